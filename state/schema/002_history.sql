-- What happened: runs, events, the journal; and who may write: the lease.
CREATE TABLE runs (
	id TEXT PRIMARY KEY,
	command TEXT NOT NULL,
	who TEXT NOT NULL,
	spec_digest TEXT,
	plan_digest TEXT,
	result TEXT,
	started_ms INTEGER NOT NULL,
	ended_ms INTEGER NOT NULL,
	summary TEXT
);

-- hash: over the previous event's hash and this row. AUTOINCREMENT keeps the highest number, so
-- that `state check` sees when the last events were cut off.
CREATE TABLE events (
	seq INTEGER PRIMARY KEY AUTOINCREMENT,
	at_ms INTEGER NOT NULL,
	run TEXT,
	addr TEXT,
	what TEXT NOT NULL,
	data TEXT,
	hash TEXT NOT NULL
);
CREATE INDEX events_run ON events (run);

-- outcome: 0 intent, 1 done, 2 failed, 3 unknown. 0 and 3 are open.
-- sum: checksum over the columns that never change.
CREATE TABLE journal (
	seq INTEGER PRIMARY KEY AUTOINCREMENT,
	run TEXT NOT NULL,
	addr TEXT NOT NULL,
	action TEXT NOT NULL,
	token TEXT,
	outcome INTEGER NOT NULL,
	provider TEXT,
	kind TEXT,
	want TEXT,
	request TEXT,
	error TEXT,
	at_ms INTEGER NOT NULL,
	settled_ms INTEGER NOT NULL,
	sum INTEGER NOT NULL
);
CREATE INDEX journal_open ON journal (seq) WHERE outcome IN (0, 3);
CREATE INDEX journal_run ON journal (run);

-- One row. run NULL: free. fence outlives the holder: it grows by one with each take.
CREATE TABLE lease (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	fence INTEGER NOT NULL,
	run TEXT,
	who TEXT,
	host TEXT,
	command TEXT,
	boot_id TEXT,
	machine TEXT,
	pid_ns TEXT,
	pid INTEGER,
	pid_start INTEGER,
	taken_ms INTEGER,
	beat_ms INTEGER,
	expires_ms INTEGER
);
INSERT INTO lease (id, fence) VALUES (1, 0);
