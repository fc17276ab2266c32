-- The same program again, while it waits, is that run: found without reading what all of them were told.
-- No part of the MAC, as it decides nothing: the run that is found says itself what it was asked with.
ALTER TABLE runs ADD COLUMN asked BLOB CHECK (length(asked) = 32);

CREATE INDEX runs_asked ON runs (agent, asked);
