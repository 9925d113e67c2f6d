ALTER TABLE pages ADD COLUMN listed INTEGER NOT NULL DEFAULT 1;    -- 0: known only because pages link to it

-- The addresses that a page's content links to.
CREATE TABLE targets (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE);
CREATE TABLE outlinks (page INTEGER NOT NULL, target INTEGER NOT NULL, PRIMARY KEY (page, target)) WITHOUT ROWID;
CREATE INDEX outlinks_by_target ON outlinks (target);
CREATE TRIGGER outlinks_gone AFTER DELETE ON pages BEGIN
    DELETE FROM outlinks WHERE page = old.id;
END;
