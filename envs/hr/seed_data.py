"""Names, offices, departments, grades and days off of the company, as plain data."""

from __future__ import annotations

from datetime import date, timedelta

SITES = {
    "Rotterdam": ("NL", "EUR", 38, 2500),
    "Leeds": ("GB", "GBP", 29, 2800),
    "Osaka": ("JP", "JPY", 24, 2000),
}
"""Office → (country, currency, deductions in percent, days of annual leave in hundredths)."""

# id|name|parent|office|second office (a quarter of the people)|people today|titles by seniority
DEPARTMENTS = """
D01|Executive Office||Rotterdam||5|Executive Assistant/Programme Manager/Chief of Staff
D02|Engineering||Rotterdam||6|Engineering Coordinator/Systems Architect/Principal Engineer
D03|Platform|D02|Rotterdam||28|Software Engineer/Site Reliability Engineer/Senior Software Engineer
D04|Applications|D02|Leeds|Rotterdam|35|Application Developer/Product Designer/Senior Developer
D05|Quality Assurance|D02|Leeds||9|Test Technician/Test Engineer/Senior Test Engineer
D06|Hardware Lab|D02|Osaka||14|Lab Technician/Electronics Engineer/Senior Electronics Engineer
D07|Operations||Rotterdam||7|Planner/Process Analyst/Continuous Improvement Lead
D08|Assembly Rotterdam|D07|Rotterdam||72|Assembly Operator/Machine Setter/Shift Technician
D09|Assembly Osaka|D07|Osaka||46|Assembly Operator/Machine Setter/Shift Technician
D10|Logistics|D07|Rotterdam|Leeds|26|Warehouse Clerk/Customs Specialist/Transport Planner
D11|Facilities|D07|Leeds||8|Caretaker/Building Technician/Safety Officer
D12|Commercial||Leeds||6|Sales Analyst/Pricing Manager/Partner Manager
D13|Sales Europe|D12|Leeds|Rotterdam|33|Inside Sales Representative/Account Manager/Key Account Manager
D14|Sales Asia|D12|Osaka||18|Inside Sales Representative/Account Manager/Key Account Manager
D15|Customer Care|D12|Leeds|Osaka|47|Support Agent/Field Service Engineer/Senior Support Engineer
D16|Marketing|D12|Rotterdam||12|Content Editor/Campaign Manager/Market Researcher
D17|Corporate Services||Rotterdam||5|Office Coordinator/Project Controller/Risk Manager
D18|Finance|D17|Rotterdam||16|Accounts Clerk/Payroll Officer/Senior Controller
D19|People|D17|Leeds|Rotterdam|17|HR Administrator/Recruiter/HR Partner
D20|Legal|D17|Rotterdam||7|Paralegal/Legal Counsel/Senior Counsel
"""

FIRST_NAMES = {
    "Rotterdam": "Sanne Bram Fenna Youssef Maud Thijs Esra Jeroen Lotte Ruben Noor Kasper Anouk Sem Dewi Milan Fleur "
    "Hamza Ilse Joost Agnieszka Piotr Shanice Winston Carmen Luca Elif Mehmet Marit Wouter Nadia Sander",
    "Leeds": "Grace Harry Aisha Owen Zainab Callum Priya Niamh Tom Imogen Kwame Ruth Idris Megan Arjun Bethan Femi "
    "Sinead Rhys Yasmin Declan Harriet Omar Chloe Nikhil Fiona Tobias Adaeze Lewis Samira Ewan Moira",
    "Osaka": "Kenji Haruka Sota Aoi Yui Daiki Misaki Ren Takumi Sakura Naoki Emi Hiroto Nanami Kaito Rina Shun Ayaka "
    "Ji-woo Min-jun Linh Minh Mei Jun Chiaki Tatsuya Kanako Makoto Satomi Riku Yoko Hana",
}
LAST_NAMES = {
    "Rotterdam": "Visser|El Amrani|de Vries|Mulder|Bakker|Yılmaz|van Dijk|Jansen|Kowalska|Bouzidi|Smit|Meijer|Wójcik|"
    "de Groot|Pinas|Hoekstra|Demir|van Leeuwen|Dekker|Brouwer|Santos|Koster|Tjon|Peeters|Schouten|Kaya",
    "Leeds": "Hughes|Okafor|Khan|Taylor|Patel|Murphy|Walsh|Baker|Nowak|Mensah|Campbell|Hussain|Byrne|Reid|Adeyemi|"
    "Morgan|Singh|Gallagher|Whitfield|Rahman|Ashworth|Lloyd|Bello|Sutcliffe|Chowdhury|Fraser",
    "Osaka": "Watanabe|Tanaka|Sato|Kobayashi|Mori|Yamamoto|Nakamura|Fujita|Okada|Park|Kim|Nguyen|Tran|Inoue|Hayashi|"
    "Shimizu|Matsuda|Ishikawa|Ueda|Chen|Ono|Kondo|Aoki|Nishimura|Hara|Takeda",
}

ASCII = {pair[0]: pair[2:] for pair in "ı:i ö:oe ü:ue ó:o ł:l ń:n é:e ç:c ş:s ğ:g á:a".split()}

GRADES = tuple(f"G{n}" for n in range(1, 10))

BASES = {
    "EUR": (100, (2150, 2480, 2860, 3310, 3840, 4470, 5230, 6150, 7400)),
    "GBP": (100, (1840, 2130, 2470, 2880, 3370, 3950, 4660, 5520, 6680)),
    "JPY": (1000, (218, 247, 283, 326, 378, 441, 519, 614, 742)),
}
"""Currency → (minor units a unit, monthly base of G1 … G9 in 2023 in those units)."""

RAISES = {"2023-01-01": 1000, "2024-01-01": 1034, "2025-01-01": 1071, "2026-01-01": 1098}
"""Day from which amounts hold → per mille of those of 2023."""

OVERTIME = {
    "EUR": (150, 150, 150, 150, 125, 125, 125, 100, 100),
    "GBP": (150, 150, 150, 133, 133, 125, 125, 100, 100),
    "JPY": (125, 125, 125, 125, 125, 125, 125, 100, 100),
}
"""Currency → an hour of overtime in percent of a normal one, for G1 … G9."""

LEAVE_TYPES = (
    ("ANNUAL", "Annual leave", 1, None, 14, "vacation", 1),
    ("SICK", "Sick leave", 1, 3, 0, "sick", 0),
    ("STUDY", "Study leave", 1, None, 21, "vacation", 1),
    ("SPECIAL", "Special leave for weddings, births and bereavements", 1, None, 3, "vacation", 0),
    ("UNPAID", "Unpaid leave", 0, None, 30, "unpaid", 0),
    ("PARENTAL", "Parental leave", 0, None, 60, "unpaid", 0),
)

_EASTER = {2023: "2023-04-09", 2024: "2024-03-31", 2025: "2025-04-20", 2026: "2026-04-05"}

_JAPAN = (
    "2023 01-02 01-09 02-23 03-21 05-03 05-04 05-05 07-17 08-11 09-18 10-09 11-03 11-23",
    "2024 01-01 01-08 02-12 02-23 03-20 04-29 05-03 05-06 07-15 08-12 09-16 09-23 10-14 11-04",
    "2025 01-01 01-13 02-11 02-24 03-20 04-29 05-05 05-06 07-21 08-11 09-15 09-23 10-13 11-03 11-24",
    "2026 01-01 01-12 02-11 02-23 03-20 04-29 05-04 05-05 05-06 07-20 08-11 09-21 09-22 09-23 10-12 11-03 11-23",
)
_BRITAIN = (
    "2023 01-02 05-01 05-08 05-29 08-28 12-25 12-26",
    "2024 01-01 05-06 05-27 08-26 12-25 12-26",
    "2025 01-01 05-05 05-26 08-25 12-25 12-26",
    "2026 01-01 05-04 05-25 08-31 12-25 12-28",
)
_NETHERLANDS = (
    "2023 04-27 12-25 12-26",
    "2024 01-01 12-25 12-26",
    "2025 01-01 05-05 12-25 12-26",
    "2026 01-01 04-27 12-25",
)


def holidays() -> list[tuple[str, str, str]]:
    """(office, day, name) of every public holiday on a working day from 2023 to 2026."""
    found = [("Osaka", day, "national holiday") for day in _spelt(_JAPAN)]
    found += [("Leeds", day, "bank holiday") for day in _spelt(_BRITAIN)]
    found += [("Rotterdam", day, "public holiday") for day in _spelt(_NETHERLANDS)]
    for text in _EASTER.values():
        easter = date.fromisoformat(text)
        moves = [("Leeds", -2, "Good Friday"), ("Leeds", 1, "Easter Monday"), ("Rotterdam", 1, "Easter Monday")]
        moves += [("Rotterdam", 39, "Ascension Day"), ("Rotterdam", 50, "Whit Monday")]
        found += [(site, (easter + timedelta(days)).isoformat(), name) for site, days, name in moves]
    return sorted(found)


def _spelt(lines: tuple[str, ...]) -> list[str]:
    return [f"{line[:4]}-{day}" for line in lines for day in line[5:].split()]
