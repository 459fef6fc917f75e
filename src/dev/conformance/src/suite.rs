//! The list of all tests.

/// Defines one `#[test]` for each test of the suite, in a module like the suite's.
///
/// `$network` is a function that returns a [`Network`](crate::Network) for one test; the attributes apply to every
/// test. Sets the allocator to [`Counting`](crate::counting::Counting).
#[macro_export]
macro_rules! conformance {
    ($(#[$($attribute:tt)*])* $network:ident) => {
        $crate::all_tests! { [$(#[$($attribute)*])*] $network
            sizes {
                messages_of_all_sizes_arrive,
                writes_of_all_sizes_arrive,
                reads_of_all_sizes_arrive,
                short_message_leaves_rest_of_buffer,
                message_that_is_too_long_breaks_connection,
            }
            segments {
                sends_gather_and_receives_scatter,
                writes_gather_and_reads_scatter,
                short_message_fills_first_segments,
                ignores_empty_segments,
                posts_copy_segment_lists,
            }
            order {
                messages_arrive_in_order,
                requests_complete_in_posting_order,
                failure_separates_successes_from_flushes,
                established_precedes_first_message,
                message_follows_earlier_writes,
                last_byte_becomes_visible_last,
                traffic_in_both_directions_stays_in_order,
                evd_overflow_keeps_connection,
            }
            rdma {
                write_violation_breaks_connection,
                read_violation_breaks_connection,
                rights_suffice_up_to_region_boundaries,
                transfers_change_no_other_bytes,
                zero_length_transfers_succeed,
                key_of_freed_region_is_invalid,
                no_write_after_target_disconnects,
                reads_beyond_peer_limit_wait,
            }
            immediate {
                write_delivers_value,
                zero_length_write_delivers_value,
                values_and_messages_stay_in_order,
                value_waits_for_receive,
                value_arrives_right_after_connection,
                values_consume_srq_buffers,
                write_violation_delivers_no_value,
                disconnect_flushes_values,
                values_have_completion_flags,
            }
            atomic {
                fetch_and_add_wraps_and_returns_old_value,
                compare_and_swap_requires_expected_value,
                atomic_operations_stay_in_order,
                concurrent_additions_lose_nothing,
                atomic_operations_beyond_peer_limit_wait,
                atomic_violation_breaks_connection,
                atomic_operations_have_completion_flags,
            }
            extended {
                rejects_extended_operations_that_peer_lacks,
            }
            zero_based {
                addresses_begin_with_zero,
                regions_of_both_kinds_share_memory,
                region_of_region_has_its_own_base,
                rejects_ranges_outside_region,
                windows_have_their_own_base,
            }
            scopes {
                window_is_closed_to_other_connections,
                only_its_endpoint_rebinds_window,
                end_of_connection_unbinds_windows,
                free_closes_window_with_suppressed_binds,
            }
            invalidate {
                send_invalidates_window,
                invalidated_window_can_be_bound_again,
                invalidation_follows_earlier_requests,
                invalidation_is_thread_safe,
                invalidation_consumes_srq_buffers,
                incomplete_message_invalidates_nothing,
                invalid_key_breaks_connection,
            }
            read_to_rmr {
                reads_into_window,
                reads_into_region_by_remote_key,
                rejects_read_into_unwritable_memory,
            }
            limits {
                max_transfer_fits_32_bits,
                unknown_device_counter_is_0,
                object_limits_are_exact,
            }
            windows {
                window_grants_exactly_its_range,
                new_bind_replaces_key_range_and_rights,
                unbound_window_grants_nothing,
                freed_window_grants_nothing,
                key_sent_after_bind_is_valid_on_arrival,
                window_can_be_freed_during_bind,
                region_can_be_freed_during_rebind,
            }
            srq {
                counts_available_and_outstanding_buffers,
                full_srq_rejects_buffers,
                several_endpoints_receive_from_srq,
                messages_wait_for_buffers,
                leaving_endpoint_keeps_counts_exact,
                end_of_connection_flushes_waiting_messages,
                reset_keeps_srq,
                message_that_is_too_long_consumes_one_buffer,
                evd_overflow_releases_buffers,
                endpoint_can_have_another_zone,
                many_endpoints_share_srq,
            }
            watermarks {
                low_watermark_fires_once_per_arming,
                low_watermark_fires_without_polling,
                resize_loses_nothing,
                soft_high_watermark_fires,
                hard_high_watermark_breaks_connection,
            }
            endings {
                either_side_can_disconnect,
                both_sides_can_disconnect,
                receives_are_flushed_in_posting_order,
                requests_are_flushed_in_posting_order,
                graceful_disconnect_executes_posted_requests,
                graceful_disconnect_waits_for_receives_of_peer,
                abrupt_disconnect_ends_graceful_one,
                disconnect_of_peer_ends_graceful_one,
                later_posts_are_flushed_after_earlier_ones,
                free_disconnects_peer,
                close_disconnects_all_peers,
                endpoint_connects_repeatedly,
                established_precedes_immediate_disconnect,
                failure_flushes_work_of_both_sides,
                many_endpoints_leave_srq_concurrently,
            }
            completions {
                suppressed_requests_complete_only_if_they_fail,
                write_completes_after_suppressed_send,
                read_completes_after_suppressed_send,
                failure_after_suppressed_send_is_reported,
                graceful_disconnect_ends_after_suppressed_send,
                unsignalled_requests_wake_no_waiter,
                unsignalled_receives_wake_no_waiter,
                only_solicited_messages_wake_solicited_waiter,
                solicited_flag_has_no_effect_on_other_streams,
                flushed_receive_wakes_solicited_waiter,
                fenced_request_sees_data_of_reads,
                full_request_queue_accepts_more_later,
            }
            connecting {
                private_data_arrives_on_both_sides,
                both_sides_return_address_of_peer,
                separate_adapters_connect,
                many_connections_are_accepted_in_any_order,
                reject_ends_attempt,
                reject_carries_private_data,
                connect_without_listener_is_rejected,
                close_rejects_pending_requests,
                attempt_times_out,
                attempt_waits_for_reply,
                disconnect_ends_attempt,
                address_without_host_is_unreachable,
                rejected_connect_keeps_receives,
                dup_connect_reaches_same_service_point,
            }
            listeners {
                qualifier_has_one_service_point,
                service_points_of_both_models_share_ports,
                chosen_qualifiers_differ,
                request_contains_service_point,
                requests_outlive_service_point,
                rejects_requests_beyond_backlog,
                rsp_accepts_one_request,
                psp_creates_endpoints,
                request_is_handed_off,
            }
            receives {
                uses_receives_posted_before_connect,
                receive_of_freed_memory_fails_at_connect,
                message_waits_for_receive,
                many_messages_wait_in_order,
                waiting_connection_delays_no_other,
                counts_receives_until_completion,
            }
            modify {
                queue_lengths_apply_at_connect,
                evds_apply_at_completion,
                segment_limits_apply_at_post,
                zone_applies_at_connect,
                recv_completion_flags_apply_at_connect,
                rejects_changes_while_connected,
            }
            waits {
                message_wakes_both_sides,
                wait_ends_at_threshold,
                connection_events_wake_waiters,
                sleeping_threads_exchange_messages,
                wait_ends_at_timeout,
                message_triggers_cno,
                agent_is_called_without_polling,
                many_threads_share_adapter,
            }
            datagrams {
                endpoint_has_many_peers,
                datagram_without_fitting_receive_is_lost,
                freed_peer_receives_nothing,
                peer_number_is_valid_until_release,
                request_accepts_only_endpoint_of_its_kind,
            }
            cleanup {
                free_releases_receive_buffers,
                free_completes_requests,
                abrupt_close_frees_everything,
                graceful_close_requires_all_objects_freed,
                repeated_use_exhausts_nothing,
            }
            allocation {
                post_dequeue_and_ready_wait_do_not_allocate,
            }
        }

        #[global_allocator]
        static ALLOCATOR: $crate::counting::Counting = $crate::counting::Counting;
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! all_tests {
    ($attributes:tt $network:ident $($module:ident { $($test:ident,)* })*) => {$(
        mod $module {
            $( $crate::one_test! { $attributes $network $module $test } )*
        }
    )*};
}

#[doc(hidden)]
#[macro_export]
macro_rules! one_test {
    ([$($attributes:tt)*] $network:ident $module:ident $test:ident) => {
        #[test]
        $($attributes)*
        fn $test() {
            $crate::$module::$test(&super::$network());
        }
    };
}
