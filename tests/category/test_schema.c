/* test_schema.c - tests src/analysis/category/schema.h: rules from INI and JSON, and which of them
 * wins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/logger.h"
#include "category/ready.h"
#include "category/schema.h"
#include "support/unit.h"

static void read_ini(struct ut_schema *s, const char *text)
{
	struct ut_err err = { 0 };

	*s = (struct ut_schema){ .ignore_spaces = true };
	if (ut_schema_read_ini(s, "test.ini", ut_str_of(text), NULL, &err))
		fail_msg("%s", err.text);
}

static void is_in(const struct ut_schema *s, const char *name, const char *want)
{
	struct ut_str got = ut_schema_category(s, ut_str_of(name));

	if (!want) {
		assert_null(got.ptr);
		return;
	}
	assert_non_null(got.ptr);
	assert_string_equal(got.ptr, want);
}

static const char rules[] = "# a remark\n"
			    "[matmul if equals to]\n"
			    "gemm_kernel\n"
			    "\n"
			    "[matmul.fast if starts  with]\n"
			    "gemm\n"
			    "[attn if starts with]\n"
			    "gemm_attn   \n"
			    "[comm if ends with]\n"
			    "ALLREDUCE\n"
			    "[norm if contains]\n"
			    "layer_norm\n"
			    "[other if matches]\n"
			    "^void .*<float, [0-9]+>$\n";

static void the_longest_beginning_wins(void **state)
{
	struct ut_schema s;

	(void)state;
	read_ini(&s, rules);
	is_in(&s, "gemm_kernel", "matmul");
	is_in(&s, "gemm_attn_fwd", "attn");
	is_in(&s, "gemm", "matmul");
	is_in(&s, "gem", NULL);
	is_in(&s, "", NULL);
	ut_schema_release(&s);
}

static void beginnings_go_before_ends_and_ends_before_the_inside(void **state)
{
	struct ut_schema s;

	(void)state;
	read_ini(&s, rules);
	is_in(&s, "gemm_ALLREDUCE", "matmul");
	is_in(&s, "layer_norm_ALLREDUCE", "comm");
	is_in(&s, "fused layer_norm", "norm");
	is_in(&s, "void f<float, 4>", "other");
	is_in(&s, "void f<float, x>", NULL);
	ut_schema_release(&s);
}

static void blanks_count_only_if_asked(void **state)
{
	struct ut_schema s = { .ignore_spaces = false };
	struct ut_err err = { 0 };

	(void)state;
	assert_int_equal(
		ut_schema_read_ini(&s, "t", ut_str_of("[a if starts with]\nx y\n"), NULL, &err), 0);
	is_in(&s, "x yz", "a");
	is_in(&s, "xyz", NULL);
	ut_schema_release(&s);
	read_ini(&s, "[a if starts with]\nx y\n");
	is_in(&s, "xy z", "a");
	is_in(&s, "x\tyz", "a");
	ut_schema_release(&s);
}

static void json_has_the_form_of_the_original(void **state)
{
	struct ut_buf out = { 0 };
	struct ut_err err = { 0 };
	struct ut_schema s;

	(void)state;
	read_ini(&s, "[m if equals to]\nabcd\n[n if starts with]\nabc\nabcde\nxyzzy\n"
		     "[e if ends with]\nDONE\n");
	assert_int_equal(ut_schema_write_json(&s, false, &out, &err), 0);
	/* the shortest text decides how long keys are; "abcd" is exact and goes on with "abcde" */
	assert_string_equal(out.data,
			    "{\"ignore_spaces\":true,\"direct\":{\"length\":3,\"next\":{"
			    "\"abc\":{\"category\":\"n\",\"length\":1,\"next\":{\"d\":{\"next\":{"
			    "\"e\":{\"category\":\"n\"},\"\":{\"category\":\"m\"}},\"length\":1}}},"
			    "\"xyz\":{\"length\":2,\"next\":{\"zy\":{\"category\":\"n\"}}}}},"
			    "\"reverse\":{\"length\":4,\"next\":{\"ENOD\":{\"category\":\"e\"}}}}");
	ut_buf_release(&out);
	ut_schema_release(&s);
}

static void what_is_written_says_the_same_when_read(void **state)
{
	static const char *const names[] = { "gemm_kernel",
					     "gemm_attn_fwd",
					     "gemm",
					     "gem",
					     "layer_norm_ALLREDUCE",
					     "fused layer_norm",
					     "void f<float, 4>",
					     "gemm_kernel2" };
	struct ut_schema s, again = { 0 };
	struct ut_buf out = { 0 };
	struct ut_err err = { 0 };

	(void)state;
	read_ini(&s, rules);
	for (int pretty = 0; pretty < 2; pretty++) {
		out.len = 0;
		assert_int_equal(ut_schema_write_json(&s, pretty, &out, &err), 0);
		assert_int_equal(ut_schema_read_json(&again, "t",
						     (struct ut_str){ out.data, out.len }, &err),
				 0);
		assert_true(again.ignore_spaces);
		assert_int_equal(again.count, s.count);
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			is_in(&again, names[i], ut_schema_category(&s, ut_str_of(names[i])).ptr);
		ut_schema_release(&again);
	}
	ut_buf_release(&out);
	ut_schema_release(&s);
}

static void letters_of_several_bytes_stay_whole(void **state)
{
	struct ut_schema s, again = { 0 };
	struct ut_buf out = { 0 };
	struct ut_err err = { 0 };

	(void)state;
	read_ini(&s, "[a if starts with]\n\xc3\xa9t\xc3\xa9\n\xc3\xa9t\xc3\xa8s\n[b if ends "
		     "with]\n\xc3\xa9!\n");
	assert_int_equal(ut_schema_write_json(&s, false, &out, &err), 0);
	assert_non_null(strstr(out.data, "\"length\":3,"));
	assert_non_null(strstr(out.data, "\"!\\u00e9\"")); /* ASCII, as the original writes it */
	assert_int_equal(
		ut_schema_read_json(&again, "t", (struct ut_str){ out.data, out.len }, &err), 0);
	is_in(&again, "x\xc3\xa9!", "b");
	is_in(&again, "\xc3\xa9t\xc3\xa8s", "a");
	ut_schema_release(&again);
	ut_buf_release(&out);
	ut_schema_release(&s);
}

static void a_text_in_two_sections_is_one_rule_of_the_later(void **state)
{
	struct ut_schema s;
	struct ut_buf out = { 0 };
	struct ut_err err = { 0 };

	(void)state;
	read_ini(&s, "[a if starts with]\nvoid\nx\n[b if equals to] # remark\nvoid\n[c if ends "
		     "with]\nz\n");
	is_in(&s, "void", "b");
	is_in(&s, "void f", NULL);
	assert_int_equal(ut_schema_write_json(&s, false, &out, &err), 0);
	assert_string_equal(out.data,
			    "{\"ignore_spaces\":true,\"direct\":{\"length\":1,\"next\":{\"x\":{"
			    "\"category\":\"a\"},\"v\":{\"length\":3,\"next\":{\"oid\":{\"next\":{"
			    "\"\":{\"category\":\"b\"}}}}}}},\"reverse\":{\"length\":1,\"next\":{"
			    "\"z\":{\"category\":\"c\"}}}}");
	ut_buf_release(&out);
	ut_schema_release(&s);
}

static void fails_with(const char *text, const char *why)
{
	struct ut_schema s = { 0 };
	struct ut_err err = { 0 };
	int rc = text[0] == '{' ? ut_schema_read_json(&s, "f", ut_str_of(text), &err)
				: ut_schema_read_ini(&s, "f", ut_str_of(text), NULL, &err);

	assert_true(rc < 0);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	ut_schema_release(&s);
}

static void mistakes_are_reported_with_their_line(void **state)
{
	(void)state;
	fails_with("\nx\n", "f:2: a name before the first section");
	fails_with("[a if starts with\n", "f:1: a section without its closing ]");
	fails_with("[a if starts with]\n[a if starts with]\n", "f:2: the section");
	fails_with("[ if starts with]\n", "f:1: a section without a category");
	fails_with("[a if matches]\n(\n", "f:2: ");
	fails_with("# nothing\n", "no rule in it");
	fails_with("{\"direct\":{\"next\":7}}", "no schema");
	fails_with("{\"direct\":{\"next\":{\"a\":{\"category\":", "f: ");
	fails_with("{}", "no schema");
}

struct heard {
	int count;
	char last[400];
};

static void hear(void *ctx, enum ut_log_level level, const char *room, const char *text)
{
	struct heard *h = ctx;

	(void)level;
	(void)room;
	h->count++;
	snprintf(h->last, sizeof(h->last), "%s", text);
}

static void an_unknown_condition_is_reported_and_taken_for_a_beginning(void **state)
{
	struct heard heard = { 0 };
	const struct ut_logger logger = { .line = hear, .ctx = &heard };
	struct ut_schema s = { .ignore_spaces = true };
	struct ut_err err = { 0 };

	(void)state;
	assert_int_equal(
		ut_schema_read_ini(&s, "f", ut_str_of("[a if begins]\nx\n"), &logger, &err), 0);
	assert_int_equal(heard.count, 1);
	assert_non_null(strstr(heard.last, "f:1: 'begins' is no condition"));
	is_in(&s, "xy", "a");
	ut_schema_release(&s);
}

static void the_schema_for_pytorch_knows_its_kernels(void **state)
{
	static const char *const pairs[][2] = {
		{ "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT", "gemm" },
		{ "void "
		  "cutlass::Kernel2<cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_64x1_nn_"
		  "align8>(cutlass_80::Params)",
		  "gemm" },
		{ "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		  "communication" },
		{ "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>, true>(Flash_fwd_"
		  "params)",
		  "attention" },
		{ "void at::native::vectorized_elementwise_kernel<4, "
		  "at::native::FillFunctor<float>, "
		  "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>)",
		  "elementwise" },
		{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(float)",
		  "reduce" },
		{ "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, "
		  "float>"
		  "(int)",
		  "norm" },
		{ "void (anonymous namespace)::softmax_warp_forward<float, float, float, 8>(float)",
		  "softmax" },
		{ "triton_poi_fused_add_relu_0", "elementwise" },
		{ "triton_red_fused_sum_1", "reduce" },
		{ "triton_tem_fused_mm_3", "gemm" },
		{ "triton_my_kernel", "triton" },
		{ "Memcpy HtoD (Pageable -> Device)", "memory" },
		{ "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>(float)", "norm" },
		{ "sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc", "convolution" },
		{ "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<int>(int)",
		  "optimizer" },
	};
	struct ut_schema s = { 0 };
	struct ut_err err = { 0 };

	(void)state;
	assert_int_equal(ut_schema_open(&s, "pytorch-cuda", NULL, &err), 0);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct ut_str got = ut_schema_category(&s, ut_str_of(pairs[i][0]));

		if (!got.ptr || strcmp(got.ptr, pairs[i][1]) != 0)
			fail_msg("%s: %s, not %s", pairs[i][0], got.ptr ? got.ptr : "nothing",
				 pairs[i][1]);
	}
	ut_schema_release(&s);
}

UT_TESTS(schema)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_beginning_wins),
		cmocka_unit_test(beginnings_go_before_ends_and_ends_before_the_inside),
		cmocka_unit_test(blanks_count_only_if_asked),
		cmocka_unit_test(json_has_the_form_of_the_original),
		cmocka_unit_test(what_is_written_says_the_same_when_read),
		cmocka_unit_test(letters_of_several_bytes_stay_whole),
		cmocka_unit_test(a_text_in_two_sections_is_one_rule_of_the_later),
		cmocka_unit_test(mistakes_are_reported_with_their_line),
		cmocka_unit_test(an_unknown_condition_is_reported_and_taken_for_a_beginning),
		cmocka_unit_test(the_schema_for_pytorch_knows_its_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
