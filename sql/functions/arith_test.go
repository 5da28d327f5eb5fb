package functions

import "testing"

func TestIntegers(t *testing.T) {
	check(t, `
		int4:2 | + | int8:3 => bigint 5
		int2:2 | + | int4:3 => integer 5
		int4:2147483647 | + | int4:1 => 22003 integer out of range
		int2:32767 | * | int2:2 => 22003 smallint out of range
		int8:9223372036854775807 | + | int4:1 => 22003 bigint out of range
		int8:4611686018427387904 | * | int8:-2 => bigint -9223372036854775808
		int4:7 | / | int4:-2 => integer -3
		int4:-2147483648 | / | int4:-1 => 22003 integer out of range
		int4:1 | / | int4:0 => 22012 division by zero
		int4:-7 | % | int4:3 => integer -1
		int4:1 | << | int4:33 => integer 2
		int4:6 | # | int4:3 => integer 5
		- | int4:-2147483648 => 22003 integer out of range
		~ | int2:5 => smallint -6
		gcd(int4:12; int4:-18) => integer 6
		lcm(int4:4; int4:6) => integer 12
		int4:1 | + | 2 => integer 3
		int4:1 | + | text:a => 42883 operator does not exist: integer + text
		int4:NULL | + | int4:1 => integer NULL
		float8:1 | + | int4:1 => double precision 2
		int4:1 | < | int8:2 => boolean t
		int8:-9223372036854775808 | < | int2:0 => boolean t
	`)
}

func TestFloats(t *testing.T) {
	check(t, `
		float8:1e300 | * | float8:1e300 => 22003 value out of range: overflow
		float8:1e-300 | * | float8:1e-300 => 22003 value out of range: underflow
		float8:1 | / | float8:0 => 22012 division by zero
		float8:NaN | = | float8:NaN => boolean t
		float8:NaN | > | float8:Infinity => boolean t
		float8:1 | < | float8:NaN => boolean t
		float4:1.5 | + | float8:1 => double precision 2.5
		float8:2 | ^ | float8:10 => double precision 1024
		power(float8:-8; float8:0.5) => 2201F a negative number raised to a non-integer power yields a complex result
		ln(float8:0) => 2201E cannot take logarithm of zero
		sqrt(float8:-1) => 2201F cannot take square root of a negative number
		round(float8:2.5) => double precision 2
		ceil(int4:3) => double precision 3
		width_bucket(float8:5.35; float8:0.024; float8:10.06; int4:5) => integer 3
		sign(float8:-2) => double precision -1
		abs(float4:-1.5) => real 1.5
		sin(float8:Infinity) => 22003 input is out of range
	`)
}

func TestNumerics(t *testing.T) {
	check(t, `
		numeric:1 | / | numeric:3 => numeric 0.33333333333333333333
		numeric:10.50 | + | int4:1 => numeric 11.50
		numeric:1.5 | * | numeric:2.25 => numeric 3.375
		numeric:1.00 | = | numeric:1 => boolean t
		numeric:7 | % | numeric:-3 => numeric 1
		numeric:1 | / | numeric:0 => 22012 division by zero
		numeric:1 | + | float8:1 => double precision 2
		round(numeric:2.345; int4:2) => numeric 2.35
		round(numeric:2.5) => numeric 3
		trunc(numeric:-2.567; int4:1) => numeric -2.5
		ceil(numeric:-1.5) => numeric -1
		floor(numeric:-1.5) => numeric -2
		sqrt(numeric:2) => numeric 1.414213562373095
		mod(int4:7; int4:3) => integer 1
		div(numeric:7; numeric:2) => numeric 3
		gcd(numeric:1.5; numeric:0.6) => numeric 0.3
		- | numeric:1.20 => numeric -1.20
		sign(numeric:-3.2) => numeric -1
		numeric:2 | ^ | numeric:0.5 => numeric 1.4142135623730950
		width_bucket(numeric:5; numeric:0; numeric:10; int4:4) => integer 3
	`)
}
