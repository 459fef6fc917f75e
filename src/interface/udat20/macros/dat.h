/** DAT_HA_LB: load is not spread. */
#define DAT_HA_LB_NONE ((DAT_HA_LB)0)

/** DAT_HA_LB: load is spread by connection. */
#define DAT_HA_LB_INTERCOMM ((DAT_HA_LB)1)

/** DAT_HA_LB: load is spread within a connection. */
#define DAT_HA_LB_INTRACOMM ((DAT_HA_LB)2)
