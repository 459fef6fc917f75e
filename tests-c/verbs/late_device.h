/* late_device.h - what the library late_device.so exports for verbs/late. */
#ifndef TESTS_C_VERBS_LATE_DEVICE_H
#define TESTS_C_VERBS_LATE_DEVICE_H

/* Requests and receives by the time at which the device got them, and requests whose inline data were copied. */
struct late_counts {
    unsigned long during; /* during the post, which then returned */
    unsigned long before; /* during the post, which returned some time later */
    unsigned long later;  /* after the post, from another thread */
    unsigned long copied;
};

#define LATE_COUNTS "late_counts"

#endif
