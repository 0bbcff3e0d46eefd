#include "tt/write_setup.h"

#include <string.h>

#include "text/out.h"
#include "tt/pytext.h"
#include "tt/write_devlog.h"

void ut_tt_put_match(struct ut_py_json *j, const struct ut_tt_match *match, bool zones)
{
	ut_py_open(j, '{');
	if (match->any_core)
		ut_py_put_str(j, "core", "ANY");
	ut_py_put_str(j, "risc", match->risc);
	if (!zones)
		ut_py_put_i64(j, "timerID", match->timer);
	else if (match->one)
		ut_py_put_str(j, "zone_name", match->zones[0]);
	else if (match->zones)
		ut_py_put_list(j, "zone_name", match->zones);
	if (match->phase)
		ut_py_put_str(j, "zone_phase", match->phase);
	ut_py_close(j, '}');
}

void ut_tt_put_rule(struct ut_py_json *j, const struct ut_tt_rule *rule, bool zones)
{
	ut_py_open(j, '{');
	ut_py_put_str(j, "across", ut_tt_across_names[rule->across]);
	if (rule->end.risc) {
		ut_py_key(j, "end");
		ut_tt_put_match(j, &rule->end, zones);
		ut_py_key(j, "start");
	} else {
		ut_py_key(j, "marker");
	}
	ut_tt_put_match(j, &rule->start, zones);
	ut_py_put_str(j, "type", ut_tt_rule_type_names[rule->type]);
	ut_py_close(j, '}');
}

static void put_rules(struct ut_py_json *j, const struct ut_tt_setup *setup)
{
	ut_py_key(j, "timerAnalysis");
	ut_py_open(j, '{');
	for (size_t i = 0; i < setup->count; i++) {
		const struct ut_tt_rule *rule = setup->rules[setup->by_name[i]];

		ut_py_key(j, rule->name);
		ut_tt_put_rule(j, rule, setup->zones);
	}
	ut_py_close(j, '}');
}

/* ---- logs of timer numbers ----------------------------------------------------------------- */

static void put_colours(struct ut_py_json *j)
{
	static const char *const colours[][2] = {
		{ "BRISC", "light:g" },      { "NCRISC", "light:r" },
		{ "TENSIX", "light:b" },     { "TRISC_0", "light:gray" },
		{ "TRISC_1", "light:gray" }, { "TRISC_2", "light:gray" },
	};

	ut_py_key(j, "riscsData");
	ut_py_open(j, '{');
	for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++) {
		ut_py_key(j, colours[i][0]);
		ut_py_open(j, '{');
		ut_py_put_str(j, "color", colours[i][1]);
		ut_py_close(j, '}');
	}
	ut_py_close(j, '}');
}

static void write_setup_put_labels(struct ut_py_json *j)
{
	static const char *const labels[] = { "Start", "Firmware Start", "Kernel start",
					      "Kernel End", "Firmware End" };

	ut_py_key(j, "timerIDLabels");
	ut_py_open(j, '[');
	for (size_t i = 0; i < 5; i++) {
		ut_py_item(j);
		ut_py_open(j, '[');
		ut_py_item(j);
		ut_out_u64(j->out, i);
		ut_py_item(j);
		ut_out_json_str(j->out, labels[i], strlen(labels[i]));
		ut_py_close(j, ']');
	}
	ut_py_close(j, ']');
}

static void put_old(struct ut_py_json *j, const struct ut_tt_setup *setup,
		    const struct ut_tt_about_run *run)
{
	static const char *const stats[] = { "Count", "Average", "Max", "Median", "Min", NULL };
	static const char *const riscs[] = { "BRISC",   "NCRISC",  "TRISC_0",
					     "TRISC_1", "TRISC_2", NULL };

	ut_py_put_str(j, "deviceAnalysisData", "device_analysis_data.json");
	ut_py_put_str(j, "deviceChromeTracing", "device_chrome_tracing.json");
	ut_py_put_str(j, "devicePerfHTML", "timeline.html");
	ut_py_put_str(j, "deviceRearranged", "device_rearranged_timestamps.csv");
	ut_py_put_str(j, "deviceStatsTXT", "device_stats.txt");
	ut_py_put_str(j, "deviceTarball", "device_perf_results.tgz");
	ut_py_put_list(j, "displayStats", stats);
	ut_py_put_str(j, "outputFolder", run->folder);
	ut_py_put_u64(j, "plotBaseHeight", 200);
	ut_py_put_u64(j, "plotPerCoreHeight", 100);
	ut_py_put_list(j, "riscs", riscs);
	put_colours(j);
	put_rules(j, setup);
	write_setup_put_labels(j);
	ut_py_put_u64(j, "webappPort", run->port);
}

/* ---- logs of zones ------------------------------------------------------------------------- */

static const char *const zone_riscs[] = {
	"BRISC",
	"NCRISC",
	"TRISC_0",
	"TRISC_1",
	"TRISC_2",
	"ERISC",
	"QUASAR_DM0",
	"QUASAR_DM1",
	"QUASAR_DM2",
	"QUASAR_DM3",
	"QUASAR_DM4",
	"QUASAR_DM5",
	"QUASAR_DM6",
	"QUASAR_DM7",
	"QUASAR_NEO0_TRISC0",
	"QUASAR_NEO0_TRISC1",
	"QUASAR_NEO0_TRISC2",
	"QUASAR_NEO0_TRISC3",
	"QUASAR_NEO1_TRISC0",
	"QUASAR_NEO1_TRISC1",
	"QUASAR_NEO1_TRISC2",
	"QUASAR_NEO1_TRISC3",
	"QUASAR_NEO2_TRISC0",
	"QUASAR_NEO2_TRISC1",
	"QUASAR_NEO2_TRISC2",
	"QUASAR_NEO2_TRISC3",
	"QUASAR_NEO3_TRISC0",
	"QUASAR_NEO3_TRISC1",
	"QUASAR_NEO3_TRISC2",
	"QUASAR_NEO3_TRISC3",
	NULL,
};

static void put_zones(struct ut_py_json *j, const struct ut_tt_setup *setup,
		      const struct ut_tt_about_run *run)
{
	static const char *const stats[] = { "Count", "Average", "Max",   "Median",
					     "Min",   "Sum",     "Range", NULL };
	static const char *const types[] = { "BRISC",           "NCRISC", "TRISC", "ERISC",
					     "TENSIX_RISC_AGG", "DM",     NULL };

	ut_py_put_bool(j, "detectOps", setup->detect_ops);
	ut_py_put_str(j, "deviceAnalysisData", "device_analysis_data.json");
	ut_py_put_str(j, "deviceInputLog", run->log);
	ut_py_put_str(j, "deviceStatsTXT", "device_stats.txt");
	ut_py_put_str(j, "deviceTarball", "device_perf_results.tgz");
	ut_py_put_list(j, "displayStats", stats);
	ut_py_put_str(j, "outputFolder", run->folder);
	ut_py_put_list(j, "riscTypes", types);
	ut_py_put_list(j, "riscs", zone_riscs);
	put_rules(j, setup);
}

void ut_tt_put_setup(struct ut_py_json *j, const struct ut_tt_setup *setup,
		     const struct ut_tt_about_run *run)
{
	ut_py_open(j, '{');
	if (setup->zones)
		put_zones(j, setup, run);
	else
		put_old(j, setup, run);
	ut_py_close(j, '}');
}
