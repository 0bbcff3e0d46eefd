/*
 * stall_report.h - why instructions of a kernel wait: samples of stalls by address, joined with the
 * kernel's assembly, give for each stalled instruction its text, its source line and the
 * instructions that it waits for.
 *
 * Assembly comes from a folder of shader dumps (Intel: OCL_asm*.asm), a folder of modules (NVIDIA:
 * *.cubin, or *.sass written by nvdisasm), or one such file. It is hostile input: the search for a
 * cause visits each block of a kernel once, and always ends.
 *
 * All texts of a result live in its arena. One owner, one thread.
 */
#ifndef UT_METRICS_STALL_REPORT_H
#define UT_METRICS_STALL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct ut_out;
struct ut_report;
struct ut_report_opts;
struct ut_logger;

/* ---- in ------------------------------------------------------------------------------------ */

/*
 * The rows of one kernel on one device, as the CSV file has them. A reason is the title of a
 * column, with or without its unit: "SbidStall[Events]", "long_scoreboard". Columns that are no
 * stalls ("Active", "selected") may be among them: they count as samples, not as stalls.
 */
struct ut_stall_samples {
	struct ut_str kernel; /* without shape */
	const struct ut_str *reasons;
	size_t reason_count;
	const uint64_t *addresses; /* offsets from the beginning of the kernel */
	const uint64_t *counts;    /* counts[row * reason_count + reason] */
	size_t row_count;
	struct ut_str module; /* NVIDIA: CRC of the cubin, "" = not known */
};

#define UT_STALL_TOP_ALL UINT64_MAX

struct ut_stall_opts {
	const char *code;      /* -s: a folder or a file */
	uint64_t top;          /* -n: findings of each reason; UT_STALL_TOP_ALL */
	const char *demangler; /* -g: a program that is given a name; NULL = our own */
	bool no_files;         /* do not write FILE.asm.ip beside a dump */
	unsigned int seconds; /* that another program may take to read a module; 0 = five minutes */
	bool (*readable)(struct ut_str path); /* may this file of source be shown? NULL = any may */
	const struct ut_logger *logger;
};

/* ---- out ----------------------------------------------------------------------------------- */

enum ut_stall_maker {
	UT_STALL_INTEL,
	UT_STALL_NVIDIA
};

/* An instruction and where it comes from. */
struct ut_stall_place {
	uint64_t address;
	struct ut_str text;    /* as the dump has it, with the address in front */
	struct ut_str control; /* NVIDIA: "waits SB2, writes SB0, 4 cycles"; "" = not known */
	struct ut_str source;  /* "Line 40:  c[index] = a[index] + b[index];"; "" = not known */
	struct ut_str file;    /* "" = not known */
	uint32_t line;         /* 0 = not known */
	struct ut_str call;    /* the line belongs to a function that was inlined at "FILE:LINE" */
};

struct ut_stall_cause {
	struct ut_stall_place place;
	struct ut_str through; /* what connects them: "$5.dst", "scoreboard 2, R7" */
};

struct ut_stall_finding {
	size_t reason; /* of the samples */
	uint64_t count;
	double share; /* of all samples of the kernel, 0..1 */
	struct ut_stall_place place;
	const struct ut_stall_cause *causes;
	size_t cause_count;
	size_t others; /* more instructions that it may wait for, not told */
};

#define UT_STALL_NO_REASON SIZE_MAX

/* How many samples an instruction or a source line took, and which reason most of them. */
struct ut_stall_share {
	struct ut_stall_place place; /* of a line: address and text are those of its first one */
	uint64_t samples, stalls;
	double share;  /* of all samples */
	size_t reason; /* the most frequent stall; SIZE_MAX = none */
	uint64_t main; /* samples of that */
	uint32_t instructions;
};

struct ut_stall_result {
	struct ut_arena arena;
	enum ut_stall_maker maker;
	struct ut_str kernel;
	struct ut_str assembly; /* the file with addresses: FILE.asm.ip, FILE.cubin, FILE.sass */
	const struct ut_str *reasons; /* without units: "Sbid", "long_scoreboard" */
	const uint64_t *totals;       /* samples of each */
	size_t reason_count;
	uint64_t top;
	uint64_t samples, stalls;          /* of all rows */
	uint64_t lost;                     /* samples whose address has no instruction */
	struct ut_stall_finding *findings; /* by reason as the report has them, then by count */
	size_t finding_count;
	struct ut_stall_share *instructions; /* all of the kernel, by address */
	size_t instruction_count;
	struct ut_stall_share *lines; /* by file and line; those without samples are left out */
	size_t line_count;
};

/*
 * Reads the assembly and finds the causes. -ENOENT: the folder has no code of this kernel; -EINVAL:
 * what it has is damaged. On failure there is nothing to release.
 */
int ut_stall_find(struct ut_stall_result *r, const struct ut_stall_samples *samples,
		  const struct ut_stall_opts *opts, struct ut_err *err) UT_MUST_CHECK;
void ut_stall_release(struct ut_stall_result *r);

/* What a reason means and what helps, in a sentence; NULL = a reason that we do not know. */
const char *ut_stall_advice(enum ut_stall_maker maker, struct ut_str reason);

/* The report of -r, -k without -r, and of the browser: plain text as analyzeperfmetrics writes it.
 */
void ut_stall_text(struct ut_out *out, const struct ut_stall_result *r);

/* The same as one JSON object: kernel, assembly, samples, findings, lines, instructions. */
void ut_stall_json(struct ut_out *out, const struct ut_stall_result *r);

/*
 * Source or assembly with the share of samples in front of each line, as a table: instructions are
 * all there; of the source, what had samples and the lines around it, if the files are at hand.
 */
enum ut_stall_listing {
	UT_STALL_SOURCE,
	UT_STALL_ASSEMBLY
};

/* Any number of kernels may follow, then ut_report_finish(). */
struct ut_report *ut_stall_listing_start(struct ut_out *out, const struct ut_report_opts *opts,
					 enum ut_stall_listing what);
void ut_stall_listing_add(struct ut_report *report, const struct ut_stall_result *r,
			  enum ut_stall_listing what);

/* What stands above a listing for people: which kernel, which file, how many samples. */
void ut_stall_listing_head(struct ut_out *out, const struct ut_stall_result *r,
			   enum ut_stall_listing what);

/* addrasm: the dump in with addresses to the file out ("-" = standard output). */
int ut_stall_addresses(const char *in, const char *out, struct ut_err *err) UT_MUST_CHECK;

#endif
