-- Agents, tokens and spaces carry a MAC over their fields, and all of those are under the seal over
-- the gate's state: a row that was edited, put back as it was before, or taken away is noticed.
-- NULL until the first start after this migration has sealed what was there before; later only for
-- a row that was found edited, which is served to nobody.
ALTER TABLE agents ADD COLUMN mac BLOB CHECK (length(mac) = 32);
ALTER TABLE tokens ADD COLUMN mac BLOB CHECK (length(mac) = 32);
ALTER TABLE spaces ADD COLUMN mac BLOB CHECK (length(mac) = 32);
