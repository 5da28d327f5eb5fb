CREATE TABLE normals (ts timestamp PRIMARY KEY, pressure float8, temperature float8 NOT NULL, wind float8);
CREATE TABLE stocks (symbol text, date text, price numeric(10,2), PRIMARY KEY (symbol, date));
CREATE TABLE sp500 (date date PRIMARY KEY, open float8, high float8, low float8, close numeric(12,6), adjclose numeric, volume int8);
CREATE TABLE co2 (date date PRIMARY KEY, co2 numeric, adjusted numeric);
CREATE TABLE flights (date timestamp, delay int4, distance int2, origin text, destination varchar(3));
CREATE TABLE stations (symbol text PRIMARY KEY, name text NOT NULL, founded date, weight float4, active bool DEFAULT true);
INSERT INTO stations VALUES ('MSFT', 'Microsoft', '1975-04-04', 1.5), ('AAPL', 'Apple', '1976-04-01', 2.25), ('IBM', 'IBM', '1911-06-16', NULL), ('GOOG', 'Google', '1998-09-04', 0.1), ('NONE', 'No prices', NULL, NULL);
