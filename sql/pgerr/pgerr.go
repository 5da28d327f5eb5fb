// Package pgerr is the error a user sees: PostgreSQL's SQLSTATE, message,
// detail, hint and position.
//
// An error is made where the mistake is known and travels up unchanged; the
// wire writes its fields. Messages follow PostgreSQL's wording: lower case, no
// final full stop, names in double quotes; detail and hint are full sentences.
package pgerr

import (
	"errors"
	"fmt"
)

// Code is a five-character SQLSTATE.
type Code string

// Severity is the S field of an ErrorResponse or NoticeResponse.
type Severity string

// The severities in use.
const (
	Sev        Severity = "ERROR"
	SevFatal   Severity = "FATAL"
	SevNotice  Severity = "NOTICE"
	SevWarning Severity = "WARNING"
)

// SQLSTATEs, named as in PostgreSQL's errcodes appendix.
const (
	SuccessfulCompletion         Code = "00000"
	FeatureNotSupported          Code = "0A000"
	ProtocolViolation            Code = "08P01"
	ConnectionFailure            Code = "08006"
	CardinalityViolation         Code = "21000"
	StringDataRightTruncation    Code = "22001"
	NumericValueOutOfRange       Code = "22003"
	NullValueNotAllowed          Code = "22004"
	SubstringError               Code = "22011"
	ArraySubscriptError          Code = "2202E"
	InvalidEscapeCharacter       Code = "22019"
	InvalidArgumentForWidth      Code = "2201G"
	UntranslatableCharacter      Code = "22P05"
	InvalidDatetimeFormat        Code = "22007"
	DatetimeFieldOverflow        Code = "22008"
	InvalidTimeZone              Code = "22009"
	DivisionByZero               Code = "22012"
	IntervalFieldOverflow        Code = "22015"
	CharacterNotInRepertoire     Code = "22021"
	InvalidParameterValue        Code = "22023"
	InvalidEscapeSequence        Code = "22025"
	InvalidTextRepresentation    Code = "22P02"
	InvalidBinaryRepresentation  Code = "22P03"
	BadCopyFileFormat            Code = "22P04"
	InvalidRegularExpression     Code = "2201B"
	InvalidRowCountInLimit       Code = "2201W"
	InvalidRowCountInOffset      Code = "2201X"
	InvalidArgumentForLog        Code = "2201E"
	InvalidArgumentForPower      Code = "2201F"
	NotNullViolation             Code = "23502"
	ForeignKeyViolation          Code = "23503"
	UniqueViolation              Code = "23505"
	CheckViolation               Code = "23514"
	InvalidTransactionState      Code = "25000"
	ActiveSQLTransaction         Code = "25001"
	NoActiveSQLTransaction       Code = "25P01"
	InFailedSQLTransaction       Code = "25P02"
	ReadOnlySQLTransaction       Code = "25006"
	InvalidSQLStatementName      Code = "26000"
	InvalidAuthorization         Code = "28000"
	InvalidPassword              Code = "28P01"
	DependentObjectsStillExist   Code = "2BP01"
	InvalidCatalogName           Code = "3D000"
	InvalidSchemaName            Code = "3F000"
	InvalidSavepoint             Code = "3B001"
	InvalidCursorName            Code = "34000"
	SerializationFailure         Code = "40001"
	DeadlockDetected             Code = "40P01"
	SyntaxErrorOrAccessRule      Code = "42000"
	SyntaxError                  Code = "42601"
	InsufficientPrivilege        Code = "42501"
	GroupingError                Code = "42803"
	InvalidRecursion             Code = "42P19"
	DatatypeMismatch             Code = "42804"
	WrongObjectType              Code = "42809"
	CannotCoerce                 Code = "42846"
	UndefinedFunction            Code = "42883"
	UndefinedColumn              Code = "42703"
	UndefinedTable               Code = "42P01"
	UndefinedParameter           Code = "42P02"
	UndefinedObject              Code = "42704"
	DuplicateColumn              Code = "42701"
	DuplicateCursor              Code = "42P03"
	DuplicateDatabase            Code = "42P04"
	DuplicatePreparedStatement   Code = "42P05"
	DuplicateSchema              Code = "42P06"
	DuplicateTable               Code = "42P07"
	DuplicateAlias               Code = "42712"
	DuplicateObject              Code = "42710"
	InvalidForeignKey            Code = "42830"
	GeneratedAlways              Code = "428C9"
	DuplicateFunction            Code = "42723"
	AmbiguousColumn              Code = "42702"
	AmbiguousFunction            Code = "42725"
	AmbiguousParameter           Code = "42P08"
	InvalidColumnReference       Code = "42P10"
	InvalidSchemaDefinition      Code = "42P15"
	InvalidTableDefinition       Code = "42P16"
	InvalidObjectDefinition      Code = "42P17"
	IndeterminateDatatype        Code = "42P18"
	WindowingError               Code = "42P20"
	InvalidName                  Code = "42602"
	NameTooLong                  Code = "42622"
	ReservedName                 Code = "42939"
	WithCheckOptionViolation     Code = "44000"
	InsufficientResources        Code = "53000"
	DiskFull                     Code = "53100"
	OutOfMemory                  Code = "53200"
	TooManyConnections           Code = "53300"
	ConfigurationLimitExceeded   Code = "53400"
	ProgramLimitExceeded         Code = "54000"
	StatementTooComplex          Code = "54001"
	TooManyColumns               Code = "54011"
	TooManyArguments             Code = "54023"
	ObjectNotInPrerequisiteState Code = "55000"

	SequenceGeneratorLimitExceeded Code = "2200H"
	ObjectInUse                    Code = "55006"
	CantChangeRuntimeParam         Code = "55P02"
	LockNotAvailable               Code = "55P03"
	QueryCanceled                  Code = "57014"
	AdminShutdown                  Code = "57P01"
	CannotConnectNow               Code = "57P03"
	IOError                        Code = "58030"
	UndefinedFile                  Code = "58P01"
	SnapshotTooOld                 Code = "72000"
	InternalError                  Code = "XX000"
	DataCorrupted                  Code = "XX001"
)

// Error is one error or notice as a client sees it.
type Error struct {
	Severity   Severity // empty means ERROR
	Code       Code
	Message    string
	Detail     string
	Hint       string
	Position   int // 1-based, in characters of the statement's text; 0: none
	Where      string
	Schema     string
	Table      string
	Column     string
	DataType   string
	Constraint string
	cause      error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the error that caused this one, if any.
func (e *Error) Unwrap() error { return e.cause }

// New returns an error with a formatted message.
func New(code Code, format string, args ...any) *Error {
	if len(args) == 0 {
		return &Error{Code: code, Message: format}
	}
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Unsupported returns the 0A000 of a feature that is out of scope, by its name.
func Unsupported(format string, args ...any) *Error {
	return New(FeatureNotSupported, format+" is not supported", args...)
}

// WithDetail sets the detail and returns e.
func (e *Error) WithDetail(format string, args ...any) *Error {
	e.Detail = fmt.Sprintf(format, args...)
	return e
}

// WithHint sets the hint and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// At sets the position (1-based, characters) where none is set and returns e.
func (e *Error) At(pos int) *Error {
	if e.Position == 0 {
		e.Position = pos
	}
	return e
}

// WithCause records the error that led to e and returns e.
func (e *Error) WithCause(err error) *Error {
	e.cause = err
	return e
}

// Notice returns a NOTICE.
func Notice(format string, args ...any) *Error {
	e := New(SuccessfulCompletion, format, args...)
	e.Severity = SevNotice
	return e
}

// Warning returns a WARNING with its SQLSTATE.
func Warning(code Code, format string, args ...any) *Error {
	e := New(code, format, args...)
	e.Severity = SevWarning
	return e
}

// From returns err as an *Error: itself when it is or wraps one, else XX000.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return New(InternalError, "%s", err.Error()).WithCause(err)
}
