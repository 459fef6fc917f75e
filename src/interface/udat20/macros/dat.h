/** DAT_HA_LB: the provider does not distribute load. */
#define DAT_HA_LB_NONE ((DAT_HA_LB)0)

/** DAT_HA_LB: the provider distributes connections over paths. */
#define DAT_HA_LB_INTERCOMM ((DAT_HA_LB)1)

/** DAT_HA_LB: the provider distributes the load of each connection over paths. */
#define DAT_HA_LB_INTRACOMM ((DAT_HA_LB)2)
