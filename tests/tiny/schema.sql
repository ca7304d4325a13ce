CREATE TABLE members (
    member_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    fines_minor INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE books (
    book_id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    copies INTEGER NOT NULL CHECK (copies >= 0)
) STRICT;
CREATE TABLE loans (
    loan_id TEXT PRIMARY KEY,
    member_id TEXT NOT NULL REFERENCES members,
    book_id TEXT NOT NULL REFERENCES books,
    due_on TEXT NOT NULL,
    renewals INTEGER NOT NULL DEFAULT 0,
    status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'returned')),
    updated_at TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE notes (
    note_id TEXT PRIMARY KEY,
    loan_id TEXT NOT NULL REFERENCES loans,
    body TEXT NOT NULL
) STRICT;
