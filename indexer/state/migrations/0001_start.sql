CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never given twice: marks and pending work outlive a page
    url TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    title TEXT,
    language TEXT,
    words INTEGER NOT NULL DEFAULT 0,
    text_hash TEXT,
    key TEXT,                     -- names the vector this text asks for: language and passages, under pages.model
    model INTEGER,
    canonical TEXT,
    redirect_to TEXT,
    duplicate_of INTEGER,         -- the page of the same text that stands for this one
    note TEXT,
    etag TEXT,
    last_modified TEXT,
    body_hash TEXT,
    rules TEXT NOT NULL DEFAULT '',
    misses INTEGER NOT NULL DEFAULT 0,
    first_seen TEXT NOT NULL,
    changed TEXT NOT NULL
);
CREATE INDEX pages_by_text ON pages (text_hash) WHERE text_hash IS NOT NULL;
CREATE INDEX pages_by_canonical ON pages (canonical) WHERE canonical IS NOT NULL;

-- What hangs on a page goes with it. Texts are compressed JSON, and stand apart from what every sync reads.
CREATE TABLE documents (page INTEGER PRIMARY KEY, blocks BLOB NOT NULL, links BLOB NOT NULL);
CREATE TABLE sketches (page INTEGER PRIMARY KEY, sketch BLOB NOT NULL);
CREATE TABLE passages (
    page INTEGER NOT NULL, place INTEGER NOT NULL, hash TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    PRIMARY KEY (page, place)
) WITHOUT ROWID;
CREATE INDEX passages_by_hash ON passages (hash);
CREATE TRIGGER pages_gone AFTER DELETE ON pages BEGIN
    INSERT OR IGNORE INTO dropped SELECT hash FROM passages WHERE page = old.id;
    DELETE FROM documents WHERE page = old.id;
    DELETE FROM sketches WHERE page = old.id;
    DELETE FROM passages WHERE page = old.id;
    DELETE FROM held WHERE page = old.id;
END;

CREATE TABLE models (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE);
CREATE TABLE embeddings (model INTEGER NOT NULL, hash TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, hash));
CREATE TABLE to_embed (
    id INTEGER PRIMARY KEY, model INTEGER NOT NULL, hash TEXT NOT NULL, text TEXT NOT NULL, UNIQUE (model, hash)
);
CREATE TABLE dropped (hash TEXT PRIMARY KEY) WITHOUT ROWID;   -- texts that some page no longer holds

-- What the vector store holds, and the pages whose point there may be another than they ask for.
CREATE TABLE points (
    model INTEGER NOT NULL, page INTEGER NOT NULL, id TEXT NOT NULL, key TEXT NOT NULL, language TEXT NOT NULL,
    vector BLOB NOT NULL, PRIMARY KEY (model, page)
);
CREATE TABLE pending (
    model INTEGER NOT NULL, page INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (model, page)
) WITHOUT ROWID;

CREATE TABLE lists (page INTEGER PRIMARY KEY, kth REAL);
CREATE TABLE neighbours (
    page INTEGER NOT NULL, rank INTEGER NOT NULL, other INTEGER NOT NULL, score REAL NOT NULL, near INTEGER NOT NULL,
    PRIMARY KEY (page, rank)
) WITHOUT ROWID;
CREATE INDEX neighbours_by_other ON neighbours (other);
-- 'ask': the page's list has to be asked for anew; 'spread': the page may enter other pages' lists.
CREATE TABLE marks (page INTEGER NOT NULL, what TEXT NOT NULL, PRIMARY KEY (page, what)) WITHOUT ROWID;

CREATE TABLE sources (url TEXT PRIMARY KEY) WITHOUT ROWID;    -- sources of URLs that may not be missing
CREATE TABLE held (page INTEGER PRIMARY KEY, reason TEXT NOT NULL);
CREATE TABLE faults (url TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, started TEXT NOT NULL, seconds REAL, exit_code INTEGER, summary TEXT
);
