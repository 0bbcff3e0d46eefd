/* api_devices.c - the devices of this machine. */
#include "site/site_call.h"
#include "workbench/devices.h"

int ut_api_devices(struct ut_call *c, struct ut_err *err)
{
	return ut_devices_find(c->site->opts.program, c->site->data_dir.own, &c->out, NULL, err);
}
