-- args: the command line of a run, without secrets. source: what it worked from: the commit of its
-- spec, or why none is known.
ALTER TABLE runs ADD COLUMN args TEXT;
ALTER TABLE runs ADD COLUMN source TEXT;
