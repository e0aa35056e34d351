package org.brickprofiler.internal.io;

/**
 * The numbers of Perfetto's schema that are written or read here: fields, and values of enums, each after its message.
 * They are those of {@code protos/perfetto/trace} in
 * <a href="https://github.com/google/perfetto">Perfetto's sources</a>.
 */
public final class PerfettoSchema {

    public static final int TRACE_PACKET = 1;

    public static final int PACKET_CLOCK_SNAPSHOT = 6;
    public static final int PACKET_TIMESTAMP = 8;
    public static final int PACKET_SEQUENCE_ID = 10;
    public static final int PACKET_TRACK_EVENT = 11;
    public static final int PACKET_INTERNED_DATA = 12;
    public static final int PACKET_SEQUENCE_FLAGS = 13;
    public static final int PACKET_PREVIOUS_DROPPED = 42;
    public static final int PACKET_COMPRESSED = 50;
    public static final int PACKET_CLOCK_ID = 58;
    public static final int PACKET_DEFAULTS = 59;
    public static final int PACKET_TRACK_DESCRIPTOR = 60;

    public static final int FLAG_STATE_CLEARED = 1;
    public static final int FLAG_NEEDS_STATE = 2;

    public static final int SNAPSHOT_CLOCKS = 1;
    public static final int SNAPSHOT_PRIMARY_CLOCK = 2;
    public static final int CLOCK_ID = 1;
    public static final int CLOCK_TIMESTAMP = 2;
    public static final int CLOCK_IS_INCREMENTAL = 3;
    public static final int CLOCK_UNIT_NS = 4;

    public static final int CLOCK_REALTIME = 1;
    public static final int CLOCK_MONOTONIC = 3;
    public static final int CLOCK_BOOTTIME = 6;

    /** The first of the clocks that a sequence may define for itself. */
    public static final int FIRST_CLOCK_OF_SEQUENCE = 64;

    /** The last of them. */
    public static final int LAST_CLOCK_OF_SEQUENCE = 127;

    public static final int DEFAULTS_TRACK_EVENT = 11;
    public static final int DEFAULTS_CLOCK_ID = 58;

    public static final int TRACK_UUID = 1;
    public static final int TRACK_NAME = 2;
    public static final int TRACK_PROCESS = 3;
    public static final int TRACK_THREAD = 4;
    public static final int TRACK_PARENT_UUID = 5;
    public static final int TRACK_COUNTER = 8;
    public static final int TRACK_CHILD_ORDERING = 11;
    public static final int TRACK_SIBLING_RANK = 12;
    public static final int TRACK_MERGE_BEHAVIOR = 15;

    public static final int ORDERING_EXPLICIT = 3;
    public static final int MERGE_NONE = 2;

    public static final int PROCESS_PID = 1;
    public static final int PROCESS_NAME = 6;
    public static final int PROCESS_LABELS = 8;

    public static final int THREAD_PID = 1;
    public static final int THREAD_TID = 2;
    public static final int THREAD_NAME = 5;

    public static final int COUNTER_UNIT = 3;
    public static final int COUNTER_UNIT_NAME = 6;
    public static final int UNIT_NS = 1;
    public static final int UNIT_COUNT = 2;
    public static final int UNIT_BYTES = 3;

    public static final int EVENT_CATEGORY_IIDS = 3;
    public static final int EVENT_ANNOTATIONS = 4;
    public static final int EVENT_TYPE = 9;
    public static final int EVENT_NAME_IID = 10;
    public static final int EVENT_TRACK_UUID = 11;
    public static final int EVENT_CATEGORIES = 22;
    public static final int EVENT_NAME = 23;
    public static final int EVENT_COUNTER_VALUE = 30;
    public static final int EVENT_DOUBLE_COUNTER_VALUE = 44;
    public static final int EVENT_FLOWS = 47;
    public static final int EVENT_TERMINATING_FLOWS = 48;

    public static final int TYPE_BEGIN = 1;
    public static final int TYPE_END = 2;
    public static final int TYPE_INSTANT = 3;
    public static final int TYPE_COUNTER = 4;

    public static final int ANNOTATION_NAME_IID = 1;
    public static final int ANNOTATION_BOOL = 2;
    public static final int ANNOTATION_UINT = 3;
    public static final int ANNOTATION_INT = 4;
    public static final int ANNOTATION_DOUBLE = 5;
    public static final int ANNOTATION_STRING = 6;
    public static final int ANNOTATION_NAME = 10;

    public static final int INTERNED_CATEGORIES = 1;
    public static final int INTERNED_NAMES = 2;
    public static final int INTERNED_ANNOTATION_NAMES = 3;
    public static final int INTERNED_IID = 1;
    public static final int INTERNED_TEXT = 2;

    private PerfettoSchema() {}
}
