//! The list of all tests, and how a transport instantiates it.

/// Makes one `#[test]` of each test of the suite.
///
/// `$network` names a function that gives the [`Network`](crate::Network) for one test;
/// attributes before it are for every test. The test program's allocator is
/// [`Counting`](crate::counting::Counting) from then on.
#[macro_export]
macro_rules! conformance {
    ($(#[$($attribute:tt)*])* $network:ident) => {
        $crate::all_tests! { [$(#[$($attribute)*])*] $network
            sizes {
                messages_of_all_sizes_arrive,
                writes_of_all_sizes_arrive,
                reads_of_all_sizes_arrive,
                a_short_message_leaves_the_rest_of_its_buffer,
                a_message_that_is_too_long_ends_the_connection,
            }
            segments {
                messages_go_from_pieces_to_pieces,
                writes_come_from_pieces_and_reads_go_into_them,
                a_short_message_fills_the_first_pieces,
                empty_segments_are_passed_over,
                lists_are_copied_when_they_are_posted,
            }
            order {
                messages_arrive_in_order,
                requests_complete_in_posting_order,
                a_failure_comes_between_successes_and_flushed_ones,
                established_comes_before_the_first_message,
                a_message_says_that_writes_before_it_have_arrived,
                the_last_byte_becomes_visible_last,
                both_ways_at_once_keep_their_order,
                an_overflow_is_told_and_the_connection_goes_on,
            }
            rdma {
                a_write_that_is_not_allowed_ends_the_connection,
                a_read_that_is_not_allowed_ends_the_connection,
                what_a_registration_allows_is_done_to_the_last_byte,
                memory_of_the_peer_is_written_and_read,
                transfers_of_nothing_succeed,
                a_region_that_is_freed_cannot_be_reached,
                no_byte_is_written_once_the_target_has_disconnected,
                reads_beyond_what_the_peer_serves_at_a_time_come_later,
            }
            immediate {
                a_write_brings_a_value,
                a_value_goes_without_bytes,
                values_keep_their_order_with_messages,
                a_value_waits_for_its_receive,
                values_come_right_behind_the_connection,
                values_take_buffers_of_a_shared_queue,
                a_value_behind_a_write_that_is_not_allowed_does_not_arrive,
                values_are_flushed_at_the_end,
                values_have_completion_flags,
            }
            atomic {
                an_addition_gives_what_was_there_before,
                an_exchange_wants_what_it_expects,
                atomic_operations_keep_their_order,
                atomic_operations_of_several_ends_add_up,
                many_atomic_operations_are_under_way,
                an_atomic_operation_that_is_not_allowed_ends_the_connection,
                atomic_operations_have_completion_flags,
            }
            extended {
                a_peer_that_does_not_take_extended_operations_gets_none,
            }
            zero_based {
                bytes_are_counted_from_zero,
                memory_is_counted_in_both_ways_at_once,
                a_region_of_a_region_is_counted_in_its_own_way,
                nothing_outside_can_be_named,
                windows_are_counted_as_their_bind_says,
            }
            scopes {
                a_window_for_one_connection_opens_nothing_to_others,
                a_window_for_one_connection_is_changed_over_it_alone,
                the_end_of_the_connection_unbinds_its_windows,
                a_free_closes_a_window_whose_completions_nobody_fetches,
            }
            invalidate {
                a_message_revokes_a_window,
                a_revoked_window_is_bound_again,
                what_was_posted_before_is_done_before,
                windows_come_and_go_while_others_are_revoked,
                messages_revoke_windows_through_a_shared_queue,
                a_message_that_breaks_off_revokes_nothing,
                what_cannot_be_revoked_ends_the_connection,
            }
            read_to_rmr {
                bytes_are_read_into_a_window,
                bytes_are_read_into_a_region_by_its_remote_key,
                what_must_not_be_written_is_refused,
            }
            limits {
                no_transfer_is_longer_than_32_bits_count,
                counters_that_no_device_has_are_0,
                there_are_as_many_objects_as_the_adapter_reports,
            }
            windows {
                a_window_opens_its_range_and_no_more,
                a_window_is_bound_again,
                a_window_is_unbound,
                a_window_that_is_freed_opens_nothing,
                a_key_sent_behind_its_bind_is_good_on_arrival,
                a_window_can_be_freed_before_its_bind_has_run,
                a_region_can_be_freed_before_its_window_has_moved,
            }
            srq {
                a_shared_queue_counts_its_buffers,
                a_full_shared_queue_takes_no_more,
                several_endpoints_take_from_one_queue,
                messages_wait_for_buffers_of_a_shared_queue,
                an_endpoint_that_leaves_keeps_the_books_exact,
                waiting_messages_leave_with_their_connection,
                a_reset_keeps_the_shared_queue,
                a_message_too_long_for_a_shared_buffer_costs_one,
                lost_completions_hold_no_buffer,
                an_endpoint_of_another_zone_takes_buffers,
                many_endpoints_share_a_queue,
            }
            watermarks {
                the_low_watermark_fires_once_an_arming,
                the_low_watermark_is_told_of_though_nobody_looks,
                a_shared_queue_is_resized_under_use,
                the_soft_high_watermark_fires_when_a_buffer_is_taken,
                the_hard_high_watermark_ends_the_connection,
            }
            endings {
                either_side_ends_the_connection_of_both,
                both_sides_can_end_it_at_once,
                receives_are_flushed_in_posting_order,
                requests_are_flushed_in_posting_order,
                a_graceful_end_carries_through_what_was_posted,
                a_graceful_end_waits_for_the_receives_of_the_peer,
                an_abrupt_end_cuts_a_graceful_one_short,
                the_peer_cuts_a_graceful_end_short,
                posts_after_the_end_are_flushed_behind_earlier_ones,
                a_free_ends_the_connection,
                a_close_ends_the_connections_of_the_adapter,
                an_endpoint_is_used_again,
                a_connection_that_ends_at_once_was_established,
                a_failure_flushes_the_work_of_both_sides,
                many_leave_their_shared_queues_at_once,
            }
            completions {
                suppressed_requests_are_told_of_only_if_they_fail,
                a_write_behind_a_suppressed_send_completes,
                a_read_behind_a_suppressed_send_completes,
                a_failure_behind_a_suppressed_send_is_told,
                a_graceful_end_behind_a_suppressed_send_comes,
                unsignalled_requests_do_not_wake_a_waiter,
                unsignalled_receives_do_not_wake_a_waiter,
                only_announced_messages_wake_a_solicited_waiter,
                announcing_a_message_changes_nothing_elsewhere,
                the_end_wakes_a_solicited_waiter,
                a_fenced_request_sees_what_reads_have_brought,
                a_full_queue_of_requests_takes_more_later,
            }
            connecting {
                private_data_goes_both_ways,
                both_sides_know_whom_they_are_connected_with,
                two_adapters_connect,
                many_connections_come_up_at_once,
                a_rejected_attempt_is_told_so,
                a_rejection_brings_private_data,
                a_connect_that_nobody_listens_to_is_refused,
                a_close_refuses_the_requests_of_the_adapter,
                an_attempt_that_is_not_answered_times_out,
                an_attempt_waits_for_its_answer,
                an_attempt_is_given_up,
                an_address_without_a_host_is_not_reached,
                a_refused_connect_leaves_receives_posted,
                a_connection_is_duplicated,
            }
            listeners {
                a_qualifier_has_one_owner,
                both_models_of_connections_meet,
                chosen_qualifiers_differ,
                a_request_names_its_service_point,
                announced_requests_outlive_their_service_point,
                requests_beyond_the_backlog_are_refused,
                a_reserved_service_point_takes_one_request,
                a_service_point_brings_its_endpoints,
                a_request_is_handed_off,
            }
            receives {
                receives_posted_before_connecting_are_used_in_order,
                a_receive_whose_memory_is_gone_fails_when_connecting,
                a_message_waits_for_its_receive,
                many_messages_wait_in_order,
                a_connection_that_waits_holds_up_no_other,
                held_receives_are_counted,
            }
            modify {
                queue_lengths_are_those_at_the_connection,
                dispatchers_are_those_at_the_connection,
                limits_are_those_at_the_connection,
                the_zone_is_that_at_the_connection,
                completion_flags_are_those_at_the_connection,
                nothing_is_changed_while_connected,
            }
            waits {
                a_message_wakes_both_sides,
                a_threshold_is_waited_for,
                connections_wake_their_waiters,
                two_sleeping_threads_play_ping_pong,
                a_wait_ends_in_time,
                a_message_triggers_a_notification_object,
                an_agent_is_called_though_nobody_calls_in,
                many_threads_use_one_adapter,
            }
            datagrams {
                an_endpoint_for_datagrams_has_many_peers,
                a_datagram_without_a_receive_is_lost,
                a_peer_that_is_freed_gets_nothing,
                a_peer_is_sent_to_until_its_address_handle_is_freed,
                a_request_wants_an_endpoint_of_its_kind,
            }
            cleanup {
                a_freed_endpoint_has_let_go_of_its_buffers,
                a_freed_endpoint_completes_its_requests,
                a_close_ends_everything,
                a_graceful_close_wants_everything_freed,
                nothing_is_used_up,
            }
            allocation {
                post_dequeue_and_ready_wait_do_not_allocate,
            }
        }

        #[global_allocator]
        static ALLOCATOR: $crate::counting::Counting = $crate::counting::Counting;
    };
}

/// A module for each of the suite's, with its tests.
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
