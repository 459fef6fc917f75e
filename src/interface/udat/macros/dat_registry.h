/** Name of the function of type DAT_PROVIDER_INIT_FUNC that a provider library exports. */
#define DAT_PROVIDER_INIT_FUNC_NAME dat_provider_init

/** Name of the function of type DAT_PROVIDER_FINI_FUNC that a provider library exports. */
#define DAT_PROVIDER_FINI_FUNC_NAME dat_provider_fini

/** DAT_PROVIDER_INIT_FUNC_NAME as a string, for dlsym. */
#define DAT_PROVIDER_INIT_FUNC_STR "dat_provider_init"

/** DAT_PROVIDER_FINI_FUNC_NAME as a string, for dlsym. */
#define DAT_PROVIDER_FINI_FUNC_STR "dat_provider_fini"
