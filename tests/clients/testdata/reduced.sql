CREATE TABLE IF NOT EXISTS devices (
  id bigint PRIMARY KEY,
  name text NOT NULL,
  location varchar(64) DEFAULT 'unknown',
  tags text[] DEFAULT '{}',
  meta jsonb,
  fw bytea,
  price numeric(12,4),
  m text DEFAULT 'ok',
  created_at timestamptz NOT NULL DEFAULT now(),
  active boolean DEFAULT true
);
CREATE TABLE IF NOT EXISTS cpu (
  time timestamptz NOT NULL,
  device_id bigint NOT NULL,
  host text NOT NULL,
  usage_user float8,
  usage_system float8,
  n bigint,
  readings float8[],
  labels jsonb,
  PRIMARY KEY (time, device_id)
);
CREATE TABLE IF NOT EXISTS metrics.events (
  ts timestamptz NOT NULL, kind text, payload jsonb, amount numeric, d date, i interval, u uuid, p text, f4 float4, i2 smallint, i4 int, ts2 timestamp, tm time, inet text
);
