-- The tiers the owner gave tools for an agent, by surface/tool. NULL where none has another than it
-- declares; only then is the column no part of the row's MAC, as it is not in rows from before.
ALTER TABLE agents ADD COLUMN tiers TEXT CHECK (json_valid(tiers));
