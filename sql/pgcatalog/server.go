package pgcatalog

import (
	"strings"
	"time"

	"tsdb/colstore/vector"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// startTime is when the process began, which pg_postmaster_start_time shows.
var startTime = time.Now().UnixMicro()

// encodings are PostgreSQL's numbers of encodings that clients ask for.
var encodings = map[string]int32{"sql_ascii": 0, "utf8": 6, "unicode": 6, "latin1": 8, "iso88591": 8}

func encodingNumber(_ *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := range out.I32[:n] {
		if out.IsNull(i) {
			continue
		}
		id, ok := encodings[strings.ReplaceAll(strings.ToLower(string(args[0].Bytes(i))), "-", "")]
		if !ok {
			id = -1
		}
		out.I32[i] = id
	}
	return nil
}

// encodingWidth is the most bytes of a character; NULL for unknown encodings.
func encodingWidth(_ *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := range out.I32[:n] {
		if out.IsNull(i) {
			continue
		}
		switch id := args[0].I32[i&args[0].Mask()]; {
		case id == 6:
			out.I32[i] = 4
		case id == 0 || id >= 8 && id <= 34:
			out.I32[i] = 1
		default:
			out.SetNull(i)
		}
	}
	return nil
}

// int32Kernel gives one number for all rows; ok = false is NULL.
func int32Kernel(v int32, ok bool) functions.Kernel {
	return func(_ *functions.Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
		for i := range out.I32[:n] {
			if out.I32[i] = v; !ok {
				out.SetNull(i)
			}
		}
		return nil
	}
}

func started(_ *functions.Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
	for i := range out.I64[:n] {
		out.I64[i] = startTime
	}
	return nil
}

// columnSize estimates what a value takes where PostgreSQL stores it: fixed
// widths, else a short length and the bytes.
func columnSize(in []types.Type) functions.Kernel {
	info, known := types.Lookup(in[0].OID)
	return func(_ *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := range out.I32[:n] {
			if out.IsNull(i) {
				continue
			}
			if known && info.Len > 0 {
				out.I32[i] = int32(info.Len)
				continue
			}
			size := len(args[0].Bytes(i))
			if in[0].OID == types.Numeric {
				size -= 6 // number of digits and scale lie in the sign's word
			}
			if size++; size > 127 {
				size += 3
			}
			out.I32[i] = int32(size)
		}
		return nil
	}
}

func clientEncoding(s *source, _ []*vector.Vector, _ int) (string, bool) {
	if s.ctx.Session != nil {
		if v, ok := s.ctx.Session.Setting("client_encoding"); ok {
			return v, true
		}
	}
	return "UTF8", true
}

func noPIDs(_ *functions.Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
	none := vector.New(vector.Int32, 0)
	for range n {
		out.Data = functions.AppendArray(out.Data, types.Int4, none, 0, 0)
		out.FinishBytes()
	}
	return nil
}

func init() {
	text, name, i4, tz := types.Text, types.Name, types.Int4, types.TimestampTZ
	size := fn(1269, "pg_column_size", []types.OID{types.Any}, i4, nil, "Bytes of a value, about as PostgreSQL stores it")
	size.Bind = columnSize
	functions.RegisterFunctions(size,
		fn(0, "pg_client_encoding", nil, name, textKernel(clientEncoding), "Encoding of the client"),
		fn(0, "getdatabaseencoding", nil, name, textKernel(constant("UTF8")), "Encoding of the database"),
		fn(0, "pg_char_to_encoding", []types.OID{name}, i4, encodingNumber, "Number of an encoding"),
		fn(0, "pg_encoding_max_length", []types.OID{i4}, i4, encodingWidth, "Most bytes of a character in an encoding"),
		fn(0, "pg_postmaster_start_time", nil, tz, started, "Start of the server"),
		fn(0, "pg_conf_load_time", nil, tz, started, "When settings were read"),
		fn(0, "pg_jit_available", nil, types.Bool, boolKernel(no), "Whether expressions are compiled to machine code"),
		fn(0, "pg_trigger_depth", nil, i4, int32Kernel(0, true), "How deep triggers are nested"),
		fn(0, "pg_blocking_pids", []types.OID{i4}, types.ArrayOf(i4), noPIDs, "Sessions that a session waits for: none is reported"),
		fn(0, "inet_client_addr", nil, text, textKernel(null), "Address of the client: not reported"),
		fn(0, "inet_server_addr", nil, text, textKernel(null), "Address of the server: not reported"),
		fn(0, "inet_client_port", nil, i4, int32Kernel(0, false), "Port of the client: not reported"),
		fn(0, "inet_server_port", nil, i4, int32Kernel(0, false), "Port of the server: not reported"),
		fn(0, "to_regproc", []types.OID{text}, types.Regproc, toReg(types.Regproc), "Function of a name, NULL if there is not just one"),
	)
}
