package bigquery

// Failures in both tongues: a reason and an HTTP status over REST, a code and a StorageError over gRPC.

import (
	"fmt"
	"strings"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
)

type failure struct {
	http       int
	reason     string
	location   string
	code       codes.Code
	message    string
	storage    storagepb.StorageError_StorageErrorCode
	entity     string
	retryAfter float64 // seconds; 0: nothing is said
	rows       []*storagepb.RowError
}

func (f *failure) Error() string { return f.message }

// reasons of BigQuery with their status and code.
var reasons = map[string]struct {
	http int
	code codes.Code
}{
	"USER_PROJECT_DENIED": {403, codes.PermissionDenied}, // of ErrorInfo
	"accessDenied":        {403, codes.PermissionDenied},
	"authError":           {401, codes.Unauthenticated},
	"backendError":        {503, codes.Unavailable},
	"badRequest":          {400, codes.InvalidArgument},
	"billingNotEnabled":   {403, codes.PermissionDenied},
	"blocked":             {403, codes.PermissionDenied},
	"conditionNotMet":     {412, codes.FailedPrecondition},
	"duplicate":           {409, codes.AlreadyExists},
	"internalError":       {500, codes.Internal},
	"invalid":             {400, codes.InvalidArgument},
	"invalidQuery":        {400, codes.InvalidArgument},
	"notFound":            {404, codes.NotFound},
	"notImplemented":      {501, codes.Unimplemented},
	"quotaExceeded":       {403, codes.ResourceExhausted},
	"rateLimitExceeded":   {403, codes.ResourceExhausted},
	"requestTooLarge":     {413, codes.InvalidArgument},
	"resourceInUse":       {400, codes.FailedPrecondition},
	"tableUnavailable":    {400, codes.Unavailable},
}

func fail(reason, format string, args ...any) *failure {
	row := reasons[reason]
	return &failure{http: row.http, reason: reason, code: row.code, message: fmt.Sprintf(format, args...)}
}

func refuse(code codes.Code, format string, args ...any) *failure {
	return &failure{code: code, message: fmt.Sprintf(format, args...)}
}

// about names the StorageError of a failure of the Write API, and what it befell.
func (f *failure) about(storage storagepb.StorageError_StorageErrorCode, entity string) *failure {
	f.storage, f.entity = storage, entity
	if entity != "" {
		f.message += " Entity: " + entity
	}
	return f
}

func (f *failure) status() *status.Status {
	made := status.New(f.code, f.message)
	details := []protoadapt.MessageV1{}
	if f.storage != 0 {
		details = append(details, protoadapt.MessageV1Of(&storagepb.StorageError{Code: f.storage, Entity: f.entity, ErrorMessage: f.message}))
	}
	if f.retryAfter > 0 {
		delay := durationpb.New(time.Duration(f.retryAfter * float64(time.Second)))
		details = append(details, protoadapt.MessageV1Of(&errdetails.RetryInfo{RetryDelay: delay}))
	}
	if f.isInfo() {
		details = append(details, protoadapt.MessageV1Of(&errdetails.ErrorInfo{Reason: f.reason, Domain: "googleapis.com"}))
	}
	if len(details) > 0 {
		if detailed, err := made.WithDetails(details...); err == nil {
			return detailed
		}
	}
	return made
}

// body is what REST says: https://cloud.google.com/bigquery/docs/error-messages
func (f *failure) body() map[string]any {
	one := map[string]any{"domain": "global", "reason": f.reason, "message": f.message}
	if f.location != "" {
		one["location"] = f.location
		one["locationType"] = "other"
	}
	said := map[string]any{"code": f.http, "message": f.message, "errors": []any{one}, "status": statusWord(f.code)}
	if f.isInfo() {
		one["reason"] = "forbidden"
		said["details"] = []any{map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": f.reason, "domain": "googleapis.com"}}
	}
	return map[string]any{"error": said}
}

// isInfo says whether the reason is one of google.rpc.ErrorInfo, which are written in capitals.
func (f *failure) isInfo() bool { return f.reason != "" && strings.ToUpper(f.reason) == f.reason }

var statusWords = map[codes.Code]string{
	codes.InvalidArgument: "INVALID_ARGUMENT", codes.NotFound: "NOT_FOUND", codes.AlreadyExists: "ALREADY_EXISTS",
	codes.PermissionDenied: "PERMISSION_DENIED", codes.Unauthenticated: "UNAUTHENTICATED", codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
	codes.FailedPrecondition: "FAILED_PRECONDITION", codes.Aborted: "ABORTED", codes.Unavailable: "UNAVAILABLE",
	codes.Internal: "INTERNAL", codes.Unimplemented: "UNIMPLEMENTED", codes.DeadlineExceeded: "DEADLINE_EXCEEDED",
}

func statusWord(code codes.Code) string {
	if word := statusWords[code]; word != "" {
		return word
	}
	return "UNKNOWN"
}
