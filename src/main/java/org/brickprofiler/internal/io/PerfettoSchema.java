package org.brickprofiler.internal.io;

/**
 * The field numbers and enum values of Perfetto's schema that this library writes or reads. Their source is
 * {@code protos/perfetto/trace} in <a href="https://github.com/google/perfetto">Perfetto's sources</a>.
 */
public final class PerfettoSchema {

    /** {@code Trace.packet}. */
    public static final int TRACE_PACKET = 1;

    /** {@code TracePacket.clock_snapshot}. */
    public static final int PACKET_CLOCK_SNAPSHOT = 6;
    /** {@code TracePacket.timestamp}. */
    public static final int PACKET_TIMESTAMP = 8;
    /** {@code TracePacket.trusted_packet_sequence_id}. */
    public static final int PACKET_SEQUENCE_ID = 10;
    /** {@code TracePacket.track_event}. */
    public static final int PACKET_TRACK_EVENT = 11;
    /** {@code TracePacket.interned_data}. */
    public static final int PACKET_INTERNED_DATA = 12;
    /** {@code TracePacket.sequence_flags}. */
    public static final int PACKET_SEQUENCE_FLAGS = 13;
    /** {@code TracePacket.incremental_state_cleared}, which older writers set in place of the flag. */
    public static final int PACKET_STATE_CLEARED = 41;
    /** {@code TracePacket.previous_packet_dropped}. */
    public static final int PACKET_PREVIOUS_DROPPED = 42;
    /** {@code TracePacket.compressed_packets}. */
    public static final int PACKET_COMPRESSED = 50;
    /** {@code TracePacket.timestamp_clock_id}. */
    public static final int PACKET_CLOCK_ID = 58;
    /** {@code TracePacket.trace_packet_defaults}. */
    public static final int PACKET_DEFAULTS = 59;
    /** {@code TracePacket.track_descriptor}. */
    public static final int PACKET_TRACK_DESCRIPTOR = 60;

    /** {@code TracePacket.service_event}. */
    public static final int PACKET_SERVICE_EVENT = 69;

    /** {@code TracingServiceEvent.tracing_disabled}. */
    public static final int SERVICE_TRACING_DISABLED = 5;

    /** {@code TracePacket.SequenceFlags.SEQ_INCREMENTAL_STATE_CLEARED}. */
    public static final int FLAG_STATE_CLEARED = 1;
    /** {@code TracePacket.SequenceFlags.SEQ_NEEDS_INCREMENTAL_STATE}. */
    public static final int FLAG_NEEDS_STATE = 2;

    /** {@code ClockSnapshot.clocks}. */
    public static final int SNAPSHOT_CLOCKS = 1;
    /** {@code ClockSnapshot.primary_trace_clock}. */
    public static final int SNAPSHOT_PRIMARY_CLOCK = 2;
    /** {@code ClockSnapshot.Clock.clock_id}. */
    public static final int CLOCK_ID = 1;
    /** {@code ClockSnapshot.Clock.timestamp}. */
    public static final int CLOCK_TIMESTAMP = 2;
    /** {@code ClockSnapshot.Clock.is_incremental}. */
    public static final int CLOCK_IS_INCREMENTAL = 3;
    /** {@code ClockSnapshot.Clock.unit_multiplier_ns}. */
    public static final int CLOCK_UNIT_NS = 4;

    /** {@code BuiltinClock.BUILTIN_CLOCK_REALTIME}. */
    public static final int CLOCK_REALTIME = 1;
    /** {@code BuiltinClock.BUILTIN_CLOCK_MONOTONIC}. */
    public static final int CLOCK_MONOTONIC = 3;
    /** {@code BuiltinClock.BUILTIN_CLOCK_BOOTTIME}. */
    public static final int CLOCK_BOOTTIME = 6;

    /** The smallest id of a clock that a packet sequence may define for itself. */
    public static final int FIRST_CLOCK_OF_SEQUENCE = 64;

    /** The largest id of a clock that a packet sequence may define for itself. */
    public static final int LAST_CLOCK_OF_SEQUENCE = 127;

    /** {@code TracePacketDefaults.track_event_defaults}. */
    public static final int DEFAULTS_TRACK_EVENT = 11;
    /** {@code TracePacketDefaults.timestamp_clock_id}. */
    public static final int DEFAULTS_CLOCK_ID = 58;

    /** {@code TrackDescriptor.uuid}. */
    public static final int TRACK_UUID = 1;
    /** {@code TrackDescriptor.name}. */
    public static final int TRACK_NAME = 2;
    /** {@code TrackDescriptor.process}. */
    public static final int TRACK_PROCESS = 3;
    /** {@code TrackDescriptor.thread}. */
    public static final int TRACK_THREAD = 4;
    /** {@code TrackDescriptor.parent_uuid}. */
    public static final int TRACK_PARENT_UUID = 5;
    /** {@code TrackDescriptor.counter}. */
    public static final int TRACK_COUNTER = 8;
    /** {@code TrackDescriptor.child_ordering}. */
    public static final int TRACK_CHILD_ORDERING = 11;
    /** {@code TrackDescriptor.sibling_order_rank}. */
    public static final int TRACK_SIBLING_RANK = 12;
    /** {@code TrackDescriptor.sibling_merge_behavior}. */
    public static final int TRACK_MERGE_BEHAVIOR = 15;

    /** {@code TrackDescriptor.ChildTracksOrdering.EXPLICIT}. */
    public static final int ORDERING_EXPLICIT = 3;
    /** {@code TrackDescriptor.SiblingMergeBehavior.SIBLING_MERGE_BEHAVIOR_NONE}. */
    public static final int MERGE_NONE = 2;

    /** {@code ProcessDescriptor.pid}. */
    public static final int PROCESS_PID = 1;
    /** {@code ProcessDescriptor.process_name}. */
    public static final int PROCESS_NAME = 6;
    /** {@code ProcessDescriptor.process_labels}. */
    public static final int PROCESS_LABELS = 8;

    /** {@code ThreadDescriptor.pid}. */
    public static final int THREAD_PID = 1;
    /** {@code ThreadDescriptor.tid}. */
    public static final int THREAD_TID = 2;
    /** {@code ThreadDescriptor.thread_name}. */
    public static final int THREAD_NAME = 5;

    /** {@code CounterDescriptor.unit}. */
    public static final int COUNTER_UNIT = 3;
    /** {@code CounterDescriptor.unit_name}. */
    public static final int COUNTER_UNIT_NAME = 6;
    /** {@code CounterDescriptor.Unit.UNIT_TIME_NS}. */
    public static final int UNIT_NS = 1;
    /** {@code CounterDescriptor.Unit.UNIT_COUNT}. */
    public static final int UNIT_COUNT = 2;
    /** {@code CounterDescriptor.Unit.UNIT_SIZE_BYTES}. */
    public static final int UNIT_BYTES = 3;

    /** {@code TrackEvent.category_iids}. */
    public static final int EVENT_CATEGORY_IIDS = 3;
    /** {@code TrackEvent.debug_annotations}. */
    public static final int EVENT_ANNOTATIONS = 4;
    /** {@code TrackEvent.type}. */
    public static final int EVENT_TYPE = 9;
    /** {@code TrackEvent.name_iid}. */
    public static final int EVENT_NAME_IID = 10;
    /** {@code TrackEvent.track_uuid}. */
    public static final int EVENT_TRACK_UUID = 11;
    /** {@code TrackEvent.categories}. */
    public static final int EVENT_CATEGORIES = 22;
    /** {@code TrackEvent.name}. */
    public static final int EVENT_NAME = 23;
    /** {@code TrackEvent.counter_value}. */
    public static final int EVENT_COUNTER_VALUE = 30;
    /** {@code TrackEvent.double_counter_value}. */
    public static final int EVENT_DOUBLE_COUNTER_VALUE = 44;
    /** {@code TrackEvent.flow_ids}. */
    public static final int EVENT_FLOWS = 47;
    /** {@code TrackEvent.terminating_flow_ids}. */
    public static final int EVENT_TERMINATING_FLOWS = 48;

    /** {@code TrackEvent.Type.TYPE_SLICE_BEGIN}. */
    public static final int TYPE_BEGIN = 1;
    /** {@code TrackEvent.Type.TYPE_SLICE_END}. */
    public static final int TYPE_END = 2;
    /** {@code TrackEvent.Type.TYPE_INSTANT}. */
    public static final int TYPE_INSTANT = 3;
    /** {@code TrackEvent.Type.TYPE_COUNTER}. */
    public static final int TYPE_COUNTER = 4;

    /** {@code DebugAnnotation.name_iid}. */
    public static final int ANNOTATION_NAME_IID = 1;
    /** {@code DebugAnnotation.bool_value}. */
    public static final int ANNOTATION_BOOL = 2;
    /** {@code DebugAnnotation.uint_value}. */
    public static final int ANNOTATION_UINT = 3;
    /** {@code DebugAnnotation.int_value}. */
    public static final int ANNOTATION_INT = 4;
    /** {@code DebugAnnotation.double_value}. */
    public static final int ANNOTATION_DOUBLE = 5;
    /** {@code DebugAnnotation.string_value}. */
    public static final int ANNOTATION_STRING = 6;
    /** {@code DebugAnnotation.name}. */
    public static final int ANNOTATION_NAME = 10;

    /** {@code InternedData.event_categories}. */
    public static final int INTERNED_CATEGORIES = 1;
    /** {@code InternedData.event_names}. */
    public static final int INTERNED_NAMES = 2;
    /** {@code InternedData.debug_annotation_names}. */
    public static final int INTERNED_ANNOTATION_NAMES = 3;
    /** {@code iid} of an interned entry. */
    public static final int INTERNED_IID = 1;
    /** {@code name} of an interned entry. */
    public static final int INTERNED_TEXT = 2;

    private PerfettoSchema() {}
}
