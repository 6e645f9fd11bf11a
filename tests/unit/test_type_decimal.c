/* Decimals: base64 two's complement, scales, text, and the ends of NUMERIC and BIGNUMERIC. */
#include <stdio.h>

#include "type_help.h"

#define DECIMAL(scale, precision)                                                                  \
	"{\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":\"" scale \
	"\",\"connect.decimal.precision\":\"" precision "\"}}"
#define MONEY DECIMAL("2", "10")
#define VARIABLE "io.debezium.data.VariableScaleDecimal"

static void bytes_become_exact_digits(void **state)
{
	static const struct type_case cases[] = {
		{ MONEY, NULL, "\"AfQ=\"", "5", NULL },
		{ MONEY, NULL, "\"Zg==\"", "1.02", NULL },
		{ MONEY, NULL, "\"AA==\"", "0", NULL },
		{ MONEY, NULL, "\"/w==\"", "-0.01", NULL },
		{ MONEY, NULL, "\"gA==\"", "-1.28", NULL },
		{ MONEY, NULL, "\"gAAAAAAAAAA=\"", "-92233720368547758.08", NULL },
		{ MONEY, NULL, "\"f/////////8=\"", "92233720368547758.07", NULL },
		/* nine bytes: 2^63 and -2^63-1 */
		{ MONEY, NULL, "\"AIAAAAAAAAAA\"", "92233720368547758.08", NULL },
		{ MONEY, NULL, "\"/3//////////\"", "-92233720368547758.09", NULL },
		/* -2^64, whose complement carries through every limb */
		{ DECIMAL("0", "20"), NULL, "\"/wAAAAAAAAAA\"", "-18446744073709551616", NULL },
		{ DECIMAL("-2", "5"), NULL, "\"ew==\"", "12300", NULL },
		{ MONEY, NULL, "12.5", "12.5", NULL },
		{ MONEY, NULL, "1.250e1", "12.5", NULL },
		{ MONEY, NULL, "\"_-8=\"", NULL, "type_mismatch" },
		{ MONEY, NULL, "\"Zg\"", NULL, "type_mismatch" },
		{ MONEY, NULL, "\"\"", NULL, "type_mismatch" },
		{ MONEY, NULL, "true", NULL, "type_mismatch" },
		/* poison: 59 bytes of ones */
		{ MONEY, NULL, "\"f///////////////////////////////////////////////////////////////////////////////\"",
		  "99999999999999999999999999999.999999999", "decimal_out_of_range" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void a_changing_scale_stays_exact(void **state)
{
	static const struct type_case cases[] = {
		{ VARIABLE, NULL, "{\"scale\":2,\"value\":\"AfQ=\"}", "5", NULL },
		{ VARIABLE, NULL, "{\"scale\":20,\"value\":\"AQ==\"}", "0.00000000000000000001", NULL },
		{ VARIABLE, "NUMERIC", "{\"scale\":20,\"value\":\"AQ==\"}", "0", "decimal_out_of_range" },
		{ VARIABLE, "STRING", "{\"scale\":60,\"value\":\"AQ==\"}",
		  "0.000000000000000000000000000000000000000000000000000000000001", NULL },
		{ VARIABLE, NULL, "{\"scale\":-40,\"value\":\"AQ==\"}",
		  "578960446186580977117854925043439539266.34992332820282019728792003956564819967", "decimal_out_of_range" },
		{ VARIABLE, NULL, "{\"scale\":-2147483648,\"value\":\"/w==\"}",
		  "-578960446186580977117854925043439539266.34992332820282019728792003956564819968", "decimal_out_of_range" },
		{ VARIABLE, NULL, "{\"scale\":2147483647,\"value\":\"AQ==\"}", "0", "decimal_out_of_range" },
		{ VARIABLE, NULL, "{\"scale\":-2147483648,\"value\":\"AA==\"}", "0", NULL },
		{ VARIABLE, NULL, "{\"value\":\"AQ==\"}", NULL, "type_mismatch" },
		{ VARIABLE, NULL, "{\"scale\":1.5,\"value\":\"AQ==\"}", NULL, "type_mismatch" },
		{ VARIABLE, NULL, "\"AQ==\"", NULL, "type_mismatch" },
		{ "weir.Any", "BIGNUMERIC", "{\"scale\":2,\"value\":\"AfQ=\"}", "5", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

#define MOST "99999999999999999999999999999.999999999"
#define BIG_MOST "578960446186580977117854925043439539266.34992332820282019728792003956564819967"
#define BIG_LEAST "-578960446186580977117854925043439539266.34992332820282019728792003956564819968"

static void decimal_text_is_made_plain(void **state)
{
	static const struct type_case cases[] = {
		{ "string", "NUMERIC", "\"12.30\"", "12.3", NULL },
		{ "string", "NUMERIC", "\"12.00\"", "12", NULL },
		{ "string", "NUMERIC", "\"0.50\"", "0.5", NULL },
		{ "string", "NUMERIC", "\"-0\"", "0", NULL },
		{ "string", "NUMERIC", "\"-0.00\"", "0", NULL },
		{ "string", "NUMERIC", "\"-0.10\"", "-0.1", NULL },
		{ "string", "NUMERIC", "\"007\"", "7", NULL },
		{ "string", "NUMERIC", "\"+7\"", "7", NULL },
		{ "string", "NUMERIC", "\".5\"", "0.5", NULL },
		{ "string", "NUMERIC", "\"1.5E+3\"", "1500", NULL },
		{ "string", "NUMERIC", "\"1500e-4\"", "0.15", NULL },
		{ "string", "NUMERIC", "\"" MOST "\"", MOST, NULL },
		{ "string", "NUMERIC", "\"-" MOST "\"", "-" MOST, NULL },
		{ "string", "NUMERIC", "\"100000000000000000000000000000\"", MOST, "decimal_out_of_range" },
		{ "string", "NUMERIC", "\"0.0000000001\"", "0", "decimal_out_of_range" },
		{ "string", "NUMERIC", "\"-1.2345678901\"", "-1.23456789", "decimal_out_of_range" },
		{ "string", "NUMERIC", "\"0.0000000010\"", "0.000000001", NULL },
		{ "string", "BIGNUMERIC", "\"" BIG_MOST "\"", BIG_MOST, NULL },
		{ "string", "BIGNUMERIC", "\"" BIG_LEAST "\"", BIG_LEAST, NULL },
		{ "string", "BIGNUMERIC", "\"578960446186580977117854925043439539266.34992332820282019728792003956564819968\"", BIG_MOST,
		  "decimal_out_of_range" },
		{ "string", "BIGNUMERIC", "\"-578960446186580977117854925043439539266.34992332820282019728792003956564819969\"",
		  BIG_LEAST, "decimal_out_of_range" },
		{ "string", "BIGNUMERIC", "\"0.000000000000000000000000000000000000001\"", "0", "decimal_out_of_range" },
		{ "string", "NUMERIC", "\"1e999999999999999999999\"", MOST, "decimal_out_of_range" },
		{ "string", "NUMERIC", "\"NAN\"", "NULL", "decimal_out_of_range" },
		{ "string", "NUMERIC", "\"POSITIVE_INFINITY\"", MOST, "decimal_out_of_range" },
		{ "string", "BIGNUMERIC", "\"NEGATIVE_INFINITY\"", BIG_LEAST, "decimal_out_of_range" },
		{ "string", "NUMERIC", "\"\"", NULL, "type_mismatch" },
		{ "string", "NUMERIC", "\"-\"", NULL, "type_mismatch" },
		{ "string", "NUMERIC", "\".\"", NULL, "type_mismatch" },
		{ "string", "NUMERIC", "\"1.2.3\"", NULL, "type_mismatch" },
		{ "string", "NUMERIC", "\"1e\"", NULL, "type_mismatch" },
		{ "string", "NUMERIC", "\"12,5\"", NULL, "type_mismatch" },
		{ "string", "NUMERIC", "\" 1\"", NULL, "type_mismatch" },
		{ "string", "NUMERIC", "\"1\\u0032.50\"", "12.5", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void decimals_go_where_they_are_exact(void **state)
{
	static const struct type_case cases[] = {
		{ MONEY, "STRING", "\"AfQ=\"", "5", NULL },
		{ MONEY, "INT64", "\"AfQ=\"", "5", NULL },
		{ MONEY, "INT64", "\"AfU=\"", NULL, "type_mismatch" },
		{ DECIMAL("0", "20"), "INT64", "\"AIAAAAAAAAAA\"", "9223372036854775807", "integer_out_of_range" },
		{ MONEY, "FLOAT64", "\"AfU=\"", "5.01", NULL },
		{ MONEY, "FLOAT64", "\"f/////////8=\"", NULL, "type_mismatch" },
		{ MONEY, "JSON", "\"AfU=\"", "5.01", NULL },
		{ MONEY, "DATE", "\"AfU=\"", NULL, "type_mismatch" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void precision_and_scale_choose_the_column(void **state)
{
	static const struct {
		const char *node;
		enum bq_kind kind;
	} cases[] = {
		{ DECIMAL("9", "38"), BQ_NUMERIC },   { DECIMAL("10", "38"), BQ_BIGNUMERIC }, { DECIMAL("0", "29"), BQ_NUMERIC },
		{ DECIMAL("0", "30"), BQ_BIGNUMERIC }, { DECIMAL("38", "76"), BQ_BIGNUMERIC }, { DECIMAL("38", "77"), BQ_STRING },
		{ DECIMAL("39", "40"), BQ_STRING },   { DECIMAL("-2", "27"), BQ_NUMERIC },    { DECIMAL("-2", "28"), BQ_BIGNUMERIC },
		{ DECIMAL("2046", "5"), BQ_STRING },  { VARIABLE, BQ_BIGNUMERIC },
		{ "{\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\",\"parameters\":{\"scale\":\"2\"}}",
		  BQ_BIGNUMERIC },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trial t;

		trial_run(&t, cases[i].node, NULL, "null");
		assert_int_equal(t.to.kind, cases[i].kind);
		trial_end(&t);
	}
}

/* 2^(8n-1)-1 for growing n: every digit is compared with a sum made by hand, digit by digit. */
static void long_decimals_have_every_digit(void **state)
{
	enum { BYTES_MOST = 60 };
	char digits[200] = "1", text[200], value[130];
	size_t count = 1;

	(void)state;
	for (size_t bytes = 1; bytes <= BYTES_MOST; bytes++) {
		/* digits = 2^(8 bytes - 1), lowest first */
		for (size_t bit = bytes == 1 ? 1 : 0; bit < 8; bit++) {
			int carry = 0;

			for (size_t i = 0; i < count; i++) {
				int sum = 2 * (digits[i] - '0') + carry;

				digits[i] = (char)('0' + sum % 10);
				carry = sum / 10;
			}
			if (carry)
				digits[count++] = '1';
		}
		/* -2^(8 bytes - 1) is 80 00 00 ... */
		{
			static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
			size_t len = 0, i;
			struct type_case c = { VARIABLE, "STRING", value, text, NULL };

			len = (size_t)snprintf(value, sizeof(value), "{\"scale\":0,\"value\":\"");
			for (i = 0; i < (bytes * 8 + 5) / 6; i++)
				value[len++] = i ? 'A' : alphabet[32];
			while (i++ % 4)
				value[len++] = '=';
			snprintf(value + len, sizeof(value) - len, "\"}");
			text[0] = '-';
			for (i = 0; i < count; i++)
				text[1 + i] = digits[count - 1 - i];
			text[1 + count] = '\0';
			check_case(&c);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_become_exact_digits),
		cmocka_unit_test(a_changing_scale_stays_exact),
		cmocka_unit_test(decimal_text_is_made_plain),
		cmocka_unit_test(decimals_go_where_they_are_exact),
		cmocka_unit_test(precision_and_scale_choose_the_column),
		cmocka_unit_test(long_decimals_have_every_digit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
