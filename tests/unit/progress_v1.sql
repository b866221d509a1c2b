-- A progress file of version 1, as `Connection.iterdump` writes it. Never edit it.
PRAGMA application_id = 1953854575;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE answer (uid TEXT PRIMARY KEY, lesson TEXT NOT NULL, step TEXT NOT NULL, quiz TEXT NOT NULL, answer TEXT NOT NULL, right INTEGER NOT NULL CHECK (right IN (0, 1)), at TEXT NOT NULL);
INSERT INTO "answer" VALUES('a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1','self-attention','scale','Q08-1','"注意力 🎉"',0,'2026-01-02T12:03:00.000000+00:00');
INSERT INTO "answer" VALUES('a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2','self-attention','scale','Q08-1','[6,64]',1,'2026-01-02T12:04:00.000000+00:00');
CREATE TABLE position (slot TEXT PRIMARY KEY DEFAULT 'last' CHECK (slot = 'last'), lesson TEXT NOT NULL, step TEXT NOT NULL, at TEXT NOT NULL);
INSERT INTO "position" VALUES('last','self-attention','scale','2026-01-02T12:09:00.000000+00:00');
CREATE TABLE prediction (uid TEXT PRIMARY KEY, lesson TEXT NOT NULL, step TEXT NOT NULL, predict TEXT NOT NULL, answer TEXT NOT NULL, confidence INTEGER CHECK (confidence BETWEEN 0 AND 100), outcome TEXT NOT NULL CHECK (outcome IN ('hit', 'miss', 'skipped')), actual TEXT NOT NULL, at TEXT NOT NULL);
INSERT INTO "prediction" VALUES('b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1','self-attention','scale','saturation','0.9',70,'hit','0.97','2026-01-02T12:05:00.000000+00:00');
CREATE TABLE run (uid TEXT PRIMARY KEY, lab TEXT NOT NULL, params TEXT NOT NULL, seed INTEGER NOT NULL, device TEXT NOT NULL, seconds REAL NOT NULL, "values" TEXT NOT NULL, lesson TEXT, step TEXT, at TEXT NOT NULL);
INSERT INTO "run" VALUES('c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1','sqrt-dk','{"d_k":1024}',0,'cpu',0.01,'{"loss":{"float":"inf"}}','self-attention','scale','2026-01-02T12:06:00.000000+00:00');
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL, at TEXT NOT NULL);
INSERT INTO "setting" VALUES('language','"zh"','2026-01-02T12:07:00.000000+00:00');
CREATE TABLE visit (lesson TEXT NOT NULL, step TEXT NOT NULL, first_at TEXT NOT NULL, last_at TEXT NOT NULL, finished_at TEXT, PRIMARY KEY (lesson, step));
INSERT INTO "visit" VALUES('self-attention','why','2026-01-02T12:00:00.000000+00:00','2026-01-02T12:01:00.000000+00:00','2026-01-02T12:02:00.000000+00:00');
INSERT INTO "visit" VALUES('self-attention','scale','2026-01-02T12:02:00.000000+00:00','2026-01-02T12:09:00.000000+00:00',NULL);
COMMIT;
