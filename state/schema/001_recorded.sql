-- What exists: resources, what they depend on, facts of nodes.
CREATE TABLE meta (
	key TEXT PRIMARY KEY,
	value TEXT NOT NULL
) WITHOUT ROWID;

-- One row. Grows by one with each committed change; a plan is stale when it moved.
CREATE TABLE serial (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	n INTEGER NOT NULL
);
INSERT INTO serial (id, n) VALUES (1, 0);

-- sum: checksum over the row and its deps. SQLite does not notice a flipped bit in a value.
CREATE TABLE resources (
	rid INTEGER PRIMARY KEY,
	addr TEXT NOT NULL UNIQUE,
	kind TEXT NOT NULL,
	provider TEXT NOT NULL,
	provider_type TEXT NOT NULL,
	id TEXT,
	token TEXT,
	pool TEXT,
	status INTEGER NOT NULL,
	want TEXT,
	attrs TEXT,
	config_digest TEXT,
	created_ms INTEGER NOT NULL,
	updated_ms INTEGER NOT NULL,
	sum INTEGER NOT NULL
);

-- dep is an address and no foreign key: what it names may be created later or deleted first.
CREATE TABLE deps (
	rid INTEGER NOT NULL REFERENCES resources (rid) ON DELETE CASCADE,
	pos INTEGER NOT NULL,
	dep TEXT NOT NULL,
	PRIMARY KEY (rid, pos)
) WITHOUT ROWID;

CREATE TABLE facts (
	rid INTEGER PRIMARY KEY REFERENCES resources (rid) ON DELETE CASCADE,
	facts TEXT NOT NULL
);
