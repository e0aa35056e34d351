package org.brickprofiler.trace;

/** The events of one track. Immutable once a timeline has them. */
interface TrackEvents {

    /** Events of a track that has none of its own. */
    TrackEvents NONE = new TrackEvents() {
        @Override
        public void replay(TimelineVisitor visitor) {
            // Nothing happened here.
        }

        @Override
        public long earliestNs() {
            return Long.MAX_VALUE;
        }
    };

    /** Tells them in order. */
    void replay(TimelineVisitor visitor);

    /** When the first one began; {@link Long#MAX_VALUE} where there is none. */
    long earliestNs();
}
