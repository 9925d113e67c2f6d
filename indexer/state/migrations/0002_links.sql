ALTER TABLE documents ADD COLUMN digest TEXT;    -- of blocks and links: says whether they were taken into account

-- The statistics of the site as a whole, one version at a time; `churn` counts the pages that changed since.
CREATE TABLE corpus (
    version INTEGER PRIMARY KEY, pages INTEGER NOT NULL, terms BLOB NOT NULL, frequencies BLOB NOT NULL,
    title_terms BLOB NOT NULL, title_frequencies BLOB NOT NULL, repeated TEXT NOT NULL, churn INTEGER NOT NULL DEFAULT 0
);

-- What the links need of a page's text, under one version of the statistics.
CREATE TABLE readings (
    page INTEGER PRIMARY KEY, digest TEXT NOT NULL, version INTEGER NOT NULL, name TEXT NOT NULL, terms BLOB NOT NULL,
    counts BLOB NOT NULL, outlinks TEXT NOT NULL, set_links INTEGER NOT NULL, utility TEXT
);
-- The pages as the pairs below were last found by; a page that differs from its row is still to be taken in.
CREATE TABLE ranked (
    page INTEGER PRIMARY KEY, as_source TEXT NOT NULL, as_target TEXT NOT NULL, targets TEXT NOT NULL, named TEXT NOT NULL
);
CREATE TABLE candidates (
    page INTEGER PRIMARY KEY, targets BLOB NOT NULL, lexical_bar REAL NOT NULL, title_bar REAL NOT NULL
);
CREATE TABLE pairs (
    source INTEGER NOT NULL, target INTEGER NOT NULL, score REAL NOT NULL, similarity REAL NOT NULL, reason TEXT NOT NULL,
    places TEXT NOT NULL, PRIMARY KEY (source, target)
) WITHOUT ROWID;

-- What people said of a pair; it follows pages that move.
CREATE TABLE decisions (
    source TEXT NOT NULL, target TEXT NOT NULL, verdict TEXT NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL,
    source_text TEXT NOT NULL, target_text TEXT NOT NULL, suggestion TEXT NOT NULL, PRIMARY KEY (source, target)
) WITHOUT ROWID;

CREATE TABLE suggestions (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, status TEXT NOT NULL, score REAL NOT NULL,
    similarity REAL NOT NULL, anchor TEXT NOT NULL, paragraph TEXT NOT NULL, block INTEGER NOT NULL, start INTEGER NOT NULL,
    html TEXT NOT NULL, markdown TEXT NOT NULL, reason TEXT NOT NULL, first_seen TEXT NOT NULL,
    digest TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX suggestions_by_source ON suggestions (source);
CREATE INDEX suggestions_by_target ON suggestions (target);

CREATE TRIGGER readings_gone AFTER DELETE ON pages BEGIN
    DELETE FROM readings WHERE page = old.id;
END;
