-- The company "Tidewell Instruments". Money is integers of the currency's minor unit (1 JPY is a minor unit itself),
-- working time is minutes, days of leave are hundredths of a day, times are ISO 8601 in UTC, dates are YYYY-MM-DD,
-- months YYYY-MM.

CREATE TABLE sites (
    site TEXT PRIMARY KEY, country TEXT NOT NULL, currency TEXT NOT NULL, deduction_percent INTEGER NOT NULL,
    annual_leave_hundredths INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE public_holidays (
    site TEXT NOT NULL REFERENCES sites, day TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (site, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE cost_centres (cost_centre TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE departments (
    department_id TEXT PRIMARY KEY, name TEXT NOT NULL, parent_id TEXT REFERENCES departments,
    manager_id TEXT NOT NULL REFERENCES employees, partner_id TEXT NOT NULL REFERENCES employees,
    cost_centre TEXT NOT NULL REFERENCES cost_centres, site TEXT NOT NULL REFERENCES sites,
    headcount_plan INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE employees (
    employee_id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
    department_id TEXT NOT NULL REFERENCES departments, manager_id TEXT REFERENCES employees,
    status TEXT NOT NULL CHECK (status IN ('active', 'on_leave', 'notice_given', 'left')),
    hired_on TEXT NOT NULL, left_on TEXT, cost_centre TEXT NOT NULL REFERENCES cost_centres,
    site TEXT NOT NULL REFERENCES sites, birth_date TEXT, national_id TEXT, bank_account TEXT,
    legacy_ref TEXT NOT NULL DEFAULT '', version INTEGER NOT NULL DEFAULT 1
) STRICT, WITHOUT ROWID;
CREATE INDEX employees_department ON employees (department_id, employee_id);
CREATE INDEX employees_manager ON employees (manager_id);
CREATE INDEX employees_cost_centre ON employees (cost_centre);

-- Which department a person belonged to, and when.
CREATE TABLE memberships (
    employee_id TEXT NOT NULL REFERENCES employees, from_date TEXT NOT NULL, to_date TEXT,
    department_id TEXT NOT NULL REFERENCES departments, PRIMARY KEY (employee_id, from_date)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_department ON memberships (department_id, employee_id);

CREATE TABLE contracts (
    contract_id TEXT PRIMARY KEY, employee_id TEXT NOT NULL REFERENCES employees,
    type TEXT NOT NULL CHECK (type IN ('permanent', 'fixed_term', 'working_student', 'intern')),
    from_date TEXT NOT NULL, to_date TEXT, weekly_minutes INTEGER NOT NULL CHECK (weekly_minutes BETWEEN 300 AND 2400),
    grade TEXT NOT NULL, probation_until TEXT, version INTEGER NOT NULL DEFAULT 1
) STRICT, WITHOUT ROWID;
CREATE INDEX contracts_employee ON contracts (employee_id, from_date);

-- What the grades pay, for full time (2,400 minutes a week).
CREATE TABLE grade_amounts (
    site TEXT NOT NULL REFERENCES sites, grade TEXT NOT NULL, valid_from TEXT NOT NULL, valid_to TEXT,
    monthly_base_minor INTEGER NOT NULL, hourly_rate_minor INTEGER NOT NULL, overtime_percent INTEGER NOT NULL,
    PRIMARY KEY (site, grade, valid_from)
) STRICT, WITHOUT ROWID;

-- The grade that a person is in from a day on, and the office whose amounts hold for them.
CREATE TABLE pay_terms (
    employee_id TEXT NOT NULL REFERENCES employees, valid_from TEXT NOT NULL, grade TEXT NOT NULL,
    site TEXT NOT NULL REFERENCES sites, note TEXT NOT NULL, entered_by TEXT NOT NULL REFERENCES employees,
    PRIMARY KEY (employee_id, valid_from)
) STRICT, WITHOUT ROWID;

-- One row a person and month. days is a JSON array with one number a day from first_day on: 0 a normal day, 1 weekend,
-- 2 public holiday, 3 absent, else overtime + 1000 × minutes worked beyond the contract that nobody approved.
CREATE TABLE attendance_months (
    employee_id TEXT NOT NULL REFERENCES employees, month TEXT NOT NULL, first_day INTEGER NOT NULL,
    daily_minutes INTEGER NOT NULL, days TEXT NOT NULL, PRIMARY KEY (employee_id, month)
) STRICT, WITHOUT ROWID;

CREATE TABLE attendance_corrections (
    correction_id TEXT PRIMARY KEY, employee_id TEXT NOT NULL REFERENCES employees, day TEXT NOT NULL,
    worked_minutes INTEGER NOT NULL, overtime_minutes INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'cancelled')), note TEXT NOT NULL,
    requested_by TEXT NOT NULL REFERENCES employees, decided_by TEXT REFERENCES employees,
    version INTEGER NOT NULL DEFAULT 1
) STRICT, WITHOUT ROWID;
CREATE INDEX attendance_corrections_employee ON attendance_corrections (employee_id, day);
CREATE UNIQUE INDEX attendance_corrections_approved ON attendance_corrections (employee_id, day)
    WHERE status = 'approved';

CREATE TABLE leave_types (
    leave_type TEXT PRIMARY KEY, name TEXT NOT NULL, paid INTEGER NOT NULL CHECK (paid IN (0, 1)),
    needs_certificate_after_days INTEGER, notice_days INTEGER NOT NULL,
    day_kind TEXT NOT NULL CHECK (day_kind IN ('vacation', 'sick', 'unpaid')),
    has_balance INTEGER NOT NULL CHECK (has_balance IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE leave_balances (
    employee_id TEXT NOT NULL REFERENCES employees, leave_type TEXT NOT NULL REFERENCES leave_types,
    year INTEGER NOT NULL, entitled_hundredths INTEGER NOT NULL CHECK (entitled_hundredths >= 0), carried_until TEXT,
    PRIMARY KEY (employee_id, leave_type, year)
) STRICT, WITHOUT ROWID;

CREATE TABLE leave_requests (
    request_id TEXT PRIMARY KEY, employee_id TEXT NOT NULL REFERENCES employees,
    leave_type TEXT NOT NULL REFERENCES leave_types, from_date TEXT NOT NULL, to_date TEXT NOT NULL,
    days_hundredths INTEGER NOT NULL, status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'cancelled')),
    reason TEXT, decided_by TEXT REFERENCES employees, created_at TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 1
) STRICT, WITHOUT ROWID;
CREATE INDEX leave_requests_employee ON leave_requests (employee_id, from_date);
CREATE INDEX leave_requests_pending ON leave_requests (request_id) WHERE status = 'pending';

CREATE TABLE payroll_runs (
    month TEXT PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, cut_off TEXT NOT NULL, pay_day TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'cut_off', 'closed'))
) STRICT, WITHOUT ROWID;

-- The slip's number is P, the person's number + 9000, a dash and the month.
CREATE TABLE payslips (
    employee_id TEXT NOT NULL REFERENCES employees, month TEXT NOT NULL REFERENCES payroll_runs,
    base_minor INTEGER NOT NULL, overtime_minor INTEGER NOT NULL, adjustments_minor INTEGER NOT NULL,
    deductions_minor INTEGER NOT NULL, currency TEXT NOT NULL, PRIMARY KEY (employee_id, month)
) STRICT, WITHOUT ROWID;

CREATE TABLE adjustments (
    adjustment_id TEXT PRIMARY KEY, employee_id TEXT NOT NULL REFERENCES employees,
    month TEXT NOT NULL REFERENCES payroll_runs,
    kind TEXT NOT NULL CHECK (kind IN ('grade_change', 'overtime', 'correction', 'bonus', 'repayment')),
    amount_minor INTEGER NOT NULL CHECK (amount_minor != 0), currency TEXT NOT NULL, note TEXT NOT NULL,
    entered_by TEXT NOT NULL REFERENCES employees, created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX adjustments_employee ON adjustments (employee_id, month);
CREATE INDEX adjustments_month ON adjustments (month);

CREATE TABLE requisitions (
    requisition_id TEXT PRIMARY KEY, department_id TEXT NOT NULL REFERENCES departments, title TEXT NOT NULL,
    grade TEXT NOT NULL, status TEXT NOT NULL CHECK (status IN ('draft', 'open', 'on_hold', 'filled', 'closed')),
    openings INTEGER NOT NULL CHECK (openings > 0), filled INTEGER NOT NULL DEFAULT 0,
    hiring_manager_id TEXT NOT NULL REFERENCES employees, opened_on TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 1
) STRICT, WITHOUT ROWID;
CREATE INDEX requisitions_department ON requisitions (department_id);

CREATE TABLE candidates (
    candidate_id TEXT PRIMARY KEY, requisition_id TEXT NOT NULL REFERENCES requisitions, name TEXT NOT NULL,
    email TEXT NOT NULL,
    stage TEXT NOT NULL CHECK (stage IN ('applied', 'screening', 'interview', 'offer', 'hired', 'withdrawn', 'turned_down')),
    score_hundredths INTEGER, source TEXT NOT NULL CHECK (source IN ('referral', 'job_board', 'agency', 'careers_page')),
    applied_on TEXT NOT NULL, expected_pay_minor INTEGER, currency TEXT NOT NULL, background_note TEXT,
    version INTEGER NOT NULL DEFAULT 1
) STRICT, WITHOUT ROWID;
CREATE INDEX candidates_requisition ON candidates (requisition_id);

CREATE TABLE access_grants (
    grant_id TEXT PRIMARY KEY, employee_id TEXT NOT NULL REFERENCES employees,
    "right" TEXT NOT NULL CHECK ("right" IN ('view_directory', 'view_attendance', 'view_pay', 'change_pay',
                                             'decide_leave', 'recruit', 'administer')),
    department_id TEXT REFERENCES departments, until TEXT, granted_by TEXT NOT NULL REFERENCES employees
) STRICT, WITHOUT ROWID;
CREATE INDEX access_grants_employee ON access_grants (employee_id);

CREATE TABLE accounts (
    account_id TEXT PRIMARY KEY, employee_id TEXT NOT NULL REFERENCES employees,
    system TEXT NOT NULL CHECK (system IN ('mail', 'time_clock', 'expenses', 'vpn', 'code_host', 'crm')),
    active INTEGER NOT NULL CHECK (active IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE INDEX accounts_employee ON accounts (employee_id);

-- For whom the requests of an episode are made.
CREATE TABLE session (
    id INTEGER PRIMARY KEY CHECK (id = 1), employee_id TEXT NOT NULL REFERENCES employees,
    role TEXT NOT NULL CHECK (role IN ('employee', 'manager', 'hr_partner', 'payroll_officer', 'recruiter', 'hr_admin'))
) STRICT;

-- How the API of an episode is spelt.
CREATE TABLE api_style (
    id INTEGER PRIMARY KEY CHECK (id = 1), seed INTEGER NOT NULL, level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 3)
) STRICT;

-- While maintenance goes on (its end, NULL for none), records can be read and nothing can be changed.
CREATE TABLE maintenance (id INTEGER PRIMARY KEY CHECK (id = 1), ends TEXT) STRICT;

-- How many calls of an operation the current minute has seen. Named as the core's own tables are, since a count of calls
-- is no change of the company.
CREATE TABLE _windows (operation TEXT PRIMARY KEY, minute INTEGER NOT NULL, calls INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- Attendance by day, with approved leave and approved corrections in it. Approved leave never overlaps, so the latest one
-- that began is the only one that can cover a day. Days to come are in it too: who asks for what
-- was, asks for days before today.
CREATE VIEW attendance AS
SELECT employee_id, month, day, daily_minutes,
    CASE WHEN fixed IS NOT NULL AND fixed_worked > 0 THEN 'worked'
         WHEN code IN (1, 2) THEN CASE code WHEN 1 THEN 'weekend' ELSE 'public_holiday' END
         WHEN leave_kind IS NOT NULL THEN leave_kind
         WHEN fixed IS NOT NULL OR code = 3 THEN 'absent'
         ELSE 'worked' END AS kind,
    CASE WHEN fixed IS NOT NULL THEN fixed_worked
         WHEN code IN (1, 2, 3) OR leave_kind IS NOT NULL THEN 0
         ELSE daily_minutes + code % 1000 + code / 1000 END AS worked_minutes,
    CASE WHEN fixed IS NOT NULL THEN fixed_overtime
         WHEN code IN (1, 2, 3) OR leave_kind IS NOT NULL THEN 0
         ELSE code % 1000 END AS overtime_minutes,
    fixed IS NOT NULL AS corrected
FROM (
    SELECT b.*, c.correction_id AS fixed, c.worked_minutes AS fixed_worked, c.overtime_minutes AS fixed_overtime,
        t.day_kind AS leave_kind
    FROM (
        SELECT m.employee_id, m.month, m.daily_minutes, d.value AS code,
            m.month || substr('-0', 1, 2 - (m.first_day + d.key > 9)) || (m.first_day + d.key) AS day
        FROM attendance_months m, json_each(m.days) d
    ) b
    LEFT JOIN attendance_corrections c ON c.employee_id = b.employee_id AND c.day = b.day AND c.status = 'approved'
    LEFT JOIN leave_requests r ON r.to_date >= b.day AND r.request_id = (
        SELECT l.request_id FROM leave_requests l
        WHERE l.employee_id = b.employee_id AND l.from_date <= b.day AND l.status = 'approved'
        ORDER BY l.from_date DESC LIMIT 1)
    LEFT JOIN leave_types t ON t.leave_type = r.leave_type
);

-- What a person is paid, by the days on which it holds: grade, amounts of the grade and working time are the same on all.
CREATE VIEW pay_periods AS
SELECT t.employee_id, t.grade, (2 * g.monthly_base_minor * c.weekly_minutes + 2400) / 4800 AS monthly_base_minor,
    g.hourly_rate_minor, g.overtime_percent, s.currency,
    max(t.valid_from, g.valid_from, c.from_date) AS valid_from,
    nullif(min(coalesce(t.valid_to, '9999-12-31'), coalesce(g.valid_to, '9999-12-31'),
               coalesce(c.to_date, '9999-12-31'), coalesce(e.left_on, '9999-12-31')), '9999-12-31') AS valid_to
FROM (
    SELECT p.*, date((SELECT min(n.valid_from) FROM pay_terms n
                      WHERE n.employee_id = p.employee_id AND n.valid_from > p.valid_from), '-1 day') AS valid_to
    FROM pay_terms p
) t
JOIN contracts c ON c.employee_id = t.employee_id
    AND c.from_date <= coalesce(t.valid_to, '9999-12-31') AND coalesce(c.to_date, '9999-12-31') >= t.valid_from
JOIN grade_amounts g ON g.site = t.site AND g.grade = t.grade
    AND g.valid_from <= min(coalesce(t.valid_to, '9999-12-31'), coalesce(c.to_date, '9999-12-31'))
    AND coalesce(g.valid_to, '9999-12-31') >= max(t.valid_from, c.from_date)
JOIN sites s ON s.site = t.site
JOIN employees e ON e.employee_id = t.employee_id
    AND coalesce(e.left_on, '9999-12-31') >= max(t.valid_from, g.valid_from, c.from_date);
