-- Several runs may write at once, each its own objects. fence grows with each take and is never used again; scope, what a lease covers, as
-- JSON {"write": [addresses], "read": [addresses]}: absent, everything. It has a row of its own: a heartbeat does not write it again.
CREATE TABLE leases (
	fence INTEGER PRIMARY KEY AUTOINCREMENT,
	run TEXT NOT NULL,
	who TEXT NOT NULL,
	host TEXT NOT NULL,
	command TEXT NOT NULL,
	boot_id TEXT NOT NULL,
	machine TEXT NOT NULL,
	pid_ns TEXT NOT NULL,
	pid INTEGER NOT NULL,
	pid_start INTEGER NOT NULL,
	taken_ms INTEGER NOT NULL,
	beat_ms INTEGER NOT NULL,
	expires_ms INTEGER NOT NULL
);
CREATE TABLE lease_scopes (
	fence INTEGER PRIMARY KEY REFERENCES leases (fence) ON DELETE CASCADE,
	scope TEXT NOT NULL
);
INSERT INTO leases SELECT fence, run, who, host, command, boot_id, machine, pid_ns, pid, pid_start, taken_ms, beat_ms, expires_ms
	FROM lease WHERE run IS NOT NULL;
INSERT INTO sqlite_sequence (name, seq) SELECT 'leases', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'leases');
UPDATE sqlite_sequence SET seq = (SELECT max(fence) FROM lease) WHERE name = 'leases';
DROP TABLE lease;
