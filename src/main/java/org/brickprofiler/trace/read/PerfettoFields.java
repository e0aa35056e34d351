package org.brickprofiler.trace.read;

/**
 * The numbers of Perfetto's schema that are read here. They are those of {@code protos/perfetto/trace} in
 * <a href="https://github.com/google/perfetto">Perfetto's sources</a>.
 */
final class PerfettoFields {

    static final int TRACE_PACKET = 1;

    static final int PACKET_CLOCK_SNAPSHOT = 6;
    static final int PACKET_TIMESTAMP = 8;
    static final int PACKET_SEQUENCE_ID = 10;
    static final int PACKET_TRACK_EVENT = 11;
    static final int PACKET_INTERNED_DATA = 12;
    static final int PACKET_SEQUENCE_FLAGS = 13;
    static final int PACKET_PREVIOUS_DROPPED = 42;
    static final int PACKET_COMPRESSED = 50;
    static final int PACKET_CLOCK_ID = 58;
    static final int PACKET_DEFAULTS = 59;
    static final int PACKET_TRACK_DESCRIPTOR = 60;

    static final int FLAG_STATE_CLEARED = 1;
    static final int FLAG_NEEDS_STATE = 2;

    static final int SNAPSHOT_CLOCKS = 1;
    static final int SNAPSHOT_PRIMARY_CLOCK = 2;
    static final int CLOCK_ID = 1;
    static final int CLOCK_TIMESTAMP = 2;
    static final int CLOCK_IS_INCREMENTAL = 3;
    static final int CLOCK_UNIT_NS = 4;

    static final int CLOCK_REALTIME = 1;
    static final int CLOCK_BOOTTIME = 6;
    /** The clocks that a sequence defines for itself. */
    static final int FIRST_CLOCK_OF_SEQUENCE = 64;

    static final int LAST_CLOCK_OF_SEQUENCE = 127;

    static final int DEFAULTS_TRACK_EVENT = 11;
    static final int DEFAULTS_CLOCK_ID = 58;

    static final int TRACK_UUID = 1;
    static final int TRACK_NAME = 2;
    static final int TRACK_PROCESS = 3;
    static final int TRACK_THREAD = 4;
    static final int TRACK_PARENT_UUID = 5;
    static final int TRACK_COUNTER = 8;

    static final int PROCESS_PID = 1;
    static final int PROCESS_NAME = 6;
    static final int PROCESS_LABELS = 8;

    static final int THREAD_PID = 1;
    static final int THREAD_TID = 2;
    static final int THREAD_NAME = 5;

    static final int COUNTER_UNIT = 3;
    static final int COUNTER_UNIT_NAME = 6;
    static final int UNIT_NS = 1;
    static final int UNIT_COUNT = 2;
    static final int UNIT_BYTES = 3;

    static final int EVENT_CATEGORY_IIDS = 3;
    static final int EVENT_ANNOTATIONS = 4;
    static final int EVENT_TYPE = 9;
    static final int EVENT_NAME_IID = 10;
    static final int EVENT_TRACK_UUID = 11;
    static final int EVENT_CATEGORIES = 22;
    static final int EVENT_NAME = 23;
    static final int EVENT_COUNTER_VALUE = 30;
    static final int EVENT_DOUBLE_COUNTER_VALUE = 44;
    static final int EVENT_FLOWS = 47;
    static final int EVENT_TERMINATING_FLOWS = 48;

    static final int TYPE_BEGIN = 1;
    static final int TYPE_END = 2;
    static final int TYPE_INSTANT = 3;
    static final int TYPE_COUNTER = 4;

    static final int ANNOTATION_NAME_IID = 1;
    static final int ANNOTATION_BOOL = 2;
    static final int ANNOTATION_UINT = 3;
    static final int ANNOTATION_INT = 4;
    static final int ANNOTATION_DOUBLE = 5;
    static final int ANNOTATION_STRING = 6;
    static final int ANNOTATION_NAME = 10;

    static final int INTERNED_CATEGORIES = 1;
    static final int INTERNED_NAMES = 2;
    static final int INTERNED_ANNOTATION_NAMES = 3;
    static final int INTERNED_IID = 1;
    static final int INTERNED_TEXT = 2;

    private PerfettoFields() {}
}
