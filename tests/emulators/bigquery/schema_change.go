package bigquery

// Which change of a schema a patch may make: new columns that may be missing, and columns that become wider.

// checkChange refuses what is not allowed from the old fields to the new ones.
func checkChange(table string, old, new []*field, prefix string) *failure {
	refused := func(format string, args ...any) *failure {
		return fail("invalid", "Provided Schema does not match Table "+table+". "+format, args...)
	}
	for _, was := range old {
		is := find(new, was.name)
		path := prefix + was.name
		switch {
		case is == nil:
			return refused("Field %s is missing in new schema", path)
		case is.kind != was.kind:
			return refused("Field %s has changed type from %s to %s", path, was.kind.legacy, is.kind.legacy)
		case is.mode != was.mode && !(was.mode == "REQUIRED" && is.mode == "NULLABLE"):
			return refused("Field %s has changed mode from %s to %s", path, was.mode, is.mode)
		case narrower(was.maxLength, is.maxLength) || narrower(was.precision, is.precision) || is.precision != 0 && is.scale < was.scale ||
			is.precision != 0 && is.precision-is.scale < was.precision-was.scale:
			return refused("Field %s has changed to a narrower type", path)
		case was.element != nil && was.element.kind != is.element.kind:
			return refused("Field %s has changed its range element type", path)
		}
		if err := checkChange(table, was.fields, is.fields, path+"."); err != nil {
			return err
		}
	}
	for _, f := range new {
		if f.mode == "REQUIRED" && find(old, f.name) == nil {
			return refused("Cannot add required fields to an existing schema. (field: %s)", prefix+f.name)
		}
	}
	return nil
}

// 0 is without limit.
func narrower(was, is int64) bool { return is != 0 && (was == 0 || is < was) }

// countFields counts leaves and branches: more of them is a wider schema.
func countFields(fields []*field) int {
	count := len(fields)
	for _, f := range fields {
		count += countFields(f.fields)
	}
	return count
}
