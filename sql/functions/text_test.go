package functions

import "testing"

func TestText(t *testing.T) {
	check(t, `
		upper(text:straße é) => text STRAßE É
		initcap(text:hello wORLD-foo) => text Hello World-Foo
		length(text:häß) => integer 3
		length(bpchar:ab  ) => integer 2
		octet_length(text:häß) => integer 5
		substring(text:hello; int4:2; int4:3) => text ell
		substring(text:hello; int4:-1; int4:4) => text he
		substring(text:hello; int4:2; int4:-1) => 22011 negative substring length not allowed
		substring(text:foobar; text:o(.)b) => text o
		left(text:häßlich; int4:-2) => text häßli
		right(text:häßlich; int4:2) => text ch
		btrim(text:xyxhellox; text:xy) => text hello
		ltrim(text:  a) => text a
		position(text:abcäd; text:d) => integer 5
		replace(text:aXbX; text:X; text:yy) => text ayybyy
		repeat(text:ab; int4:3) => text ababab
		repeat(text:ab; int4:2000000000) => 54000 requested length too large
		reverse(text:aß) => text ßa
		lpad(text:hi; int4:5; text:xy) => text xyxhi
		rpad(text:hello; int4:3) => text hel
		split_part(text:a,b,c; text:,; int4:2) => text b
		split_part(text:a,b,c; text:,; int4:-1) => text c
		split_part(text:a,b; text:,; int4:0) => 22023 field position must not be zero
		concat(text:a; text:NULL; int4:3; bool:t) => text a3t
		concat_ws(text:-; text:a; text:NULL; int4:3) => text a-3
		text:a | || | int4:3 => text a3
		bool:t | || | text:x => text truex
		text:a | || | text:NULL => text NULL
		a | || | b => text ab
		chr(int4:228) => text ä
		ascii(text:ä) => integer 228
		md5(text:abc) => text 900150983cd24fb0d6963f7d28e17f72
		to_hex(int4:-1) => text ffffffff
		quote_ident(text:select) => text "select"
		quote_ident(text:abc1) => text abc1
		quote_ident(text:a"b) => text "a""b"
		quote_literal(text:a'b\c) => text E'a''b\\c'
		quote_nullable(text:NULL) => text NULL
		format(text:%s %I %L %%; text:a; text:B c; text:d'e) => text a "B c" 'd''e' %
		format(text:%2$s-%1$s|%5s|%-5s|; text:a; text:b; text:c) => text b-a|    b|c    |
		format(text:%s) => 22023 too few arguments for format()
		translate(text:12345; text:143; text:ax) => text a2x5
		overlay(text:Txxxxas; text:hom; int4:2; int4:4) => text Thomas
		starts_with(text:abc; text:ab) => boolean t
		string_to_array(text:a,b,,c; text:,) => text[] {a,b,"",c}
		string_to_array(text:abc; text:NULL) => text[] {a,b,c}
		string_to_array(text:a,b; text:,; text:b) => text[] {a,NULL}
		array_to_string(_int4:{1,NULL,3}; text:-) => text 1-3
		array_to_string(_int4:{1,NULL,3}; text:-; text:x) => text 1-x-3
		lower(int4:3) => 42883 function lower(integer) does not exist
		encode(bytea:\x010203ff; hex) => text 010203ff
		encode(bytea:\x010203ff; base64) => text AQID/w==
		encode(bytea:\x5c00ff41; escape) => text \\\000\377A
		decode(AQID/w==; base64) => bytea \x010203ff
		decode(abc; hex) => 22023 invalid hexadecimal data: odd number of digits
		get_byte(bytea:\x0102; int4:2) => 2202E index 2 out of valid range, 0..1
	`)
}

func TestPatterns(t *testing.T) {
	check(t, `
		text:abc | ~~ | a%c => boolean t
		text:abc | ~~ | a_c => boolean t
		text:aäc | ~~ | a_c => boolean t
		text:abc | ~~ | abc% => boolean t
		text:ab | ~~ | a%b%b => boolean f
		text:abcbd | ~~ | a%b%d => boolean t
		text:a%c | ~~ | a\%c => boolean t
		text:abc | ~~ | a\%c => boolean f
		text:abc | ~~ | ab\ => 22025 LIKE pattern must not end with escape character
		text:ABC | ~~* | a%C => boolean t
		text:abc | !~~ | b% => boolean t
		text:x | ~~ | % => boolean t
		like_escape(text:a#%b\; text:#) => text a\%b\\
		text:abc123 | ~ | ^[a-c]+\d{3}$ => boolean t
		text:abc | ~* | B => boolean t
		text:foo.bar | ~ | ^\w+\.\w+$ => boolean t
		text:ab | ~ | (a => 2201B invalid regular expression: parentheses () not balanced
		text:ab | ~ | [a => 2201B invalid regular expression: brackets [] not balanced
		text:ab | ~ | *a => 2201B invalid regular expression: quantifier operand invalid
		text:aa | ~ | (a)\1 => 0A000 a back-reference in a regular expression is not supported
		text:a] | ~ | ^[^]b]+ => boolean t
		text:a-b | ~ | ^[a\-b]+$ => boolean t
		text:über | ~ | ^[[:alpha:]]+$ => boolean t
		regexp_replace(text:foobarbaz; text:b(..); text:X\1Y; text:g) => text fooXarYXazY
		regexp_replace(text:foobarbaz; text:b..; text:X) => text fooXbaz
		regexp_replace(text:abc; text:x*; text:-; text:g) => text -a-b-c-
		regexp_replace(text:aaa; text:a*; text:-; text:g) => text --
		regexp_replace(text:baac; text:a*; text:-; text:g) => text -b--c-
		regexp_replace(text:aaa; text:^a; text:-; text:g) => text -aa
		regexp_match(text:foobarbequebaz; text:(bar)(beque)) => text[] {bar,beque}
		regexp_match(text:abc; text:x) => text[] NULL
		regexp_replace(text:a; text:b; text:c; text:z) => 22023 invalid regular expression option: "z"
	`)
}

func TestArraysAndJSON(t *testing.T) {
	check(t, `
		array_length(_int4:{1,2,3}; int4:1) => integer 3
		array_length(_int4:{}; int4:1) => integer NULL
		array_upper(_int4:[2:4]={1,2,3}; int4:1) => integer 4
		cardinality(_int4:{{1,2},{3,4}}) => integer 4
		array_dims(_int4:{{1,2},{3,4}}) => text [1:2][1:2]
		array_append(_int4:{1}; int4:2) => integer[] {1,2}
		_int4:{1} | || | int4:2 => integer[] {1,2}
		_int4:{1} | || | _int8:{2} => bigint[] {1,2}
		int4:0 | || | _int4:{1} => integer[] {0,1}
		array_position(_text:{a,b,c}; text:b) => integer 2
		array_remove(_int4:{1,2,1}; int4:1) => integer[] {2}
		_int4:{1,2,3} | @> | _int4:{3,1} => boolean t
		_int4:{1,2} | && | _int4:{3,2} => boolean t
		_int4:{1,2} | = | _int4:{1,2} => boolean t
		_int4:{1,2} | < | _int4:{1,3} => boolean t
		_int4:{1,NULL} | = | _int4:{1,NULL} => boolean t
		jsonb:{"a": {"b": [1, "x"]}} | -> | text:a => jsonb {"b": [1, "x"]}
		jsonb:{"a": "x\u00e4\ty"} | ->> | text:a => text xä	y
		jsonb:[1, null, 3] | -> | int4:-1 => jsonb 3
		jsonb:[1, null, 3] | ->> | int4:1 => text NULL
		jsonb:{"a": {"b": [1, "x"]}} | #>> | _text:{a,b,1} => text x
		jsonb:{"a": 1.0} | = | jsonb:{"a": 1} => boolean t
		json:{"a" : 1, "a": 2} | -> | text:a => json 2
		jsonb_typeof(jsonb:1.5) => text number
		jsonb_array_length(jsonb:[1,2]) => integer 2
	`)
}
