package org.brickprofiler.internal.record;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIIII_Result;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * Each name gets one key, and a key can be used as soon as it is returned: it lies below the size. A table here begins
 * with a fixed name and the overflow, so that the first free key is 2.
 */
public final class NameStress {

    /** The result for a key that does not lie below the size. */
    private static final int UNUSABLE = -1;

    private NameStress() {}

    private static NameTable newTable() {
        return new NameTable(new String[] {"fixed"}, new int[] {0}, "overflow", 0, null);
    }

    private static int usableKeyOf(NameTable names, String name) {
        int key = names.keyOf(name, 0);
        return key < names.size() ? key : UNUSABLE;
    }

    /** Both threads register the same name. */
    @JCStressTest
    @Outcome(id = "2, 2, 2, 3", expect = ACCEPTABLE, desc = "one key")
    @Outcome(expect = FORBIDDEN, desc = "two keys, or a key that cannot be used yet")
    @State
    public static class SameName {
        private final NameTable names = newTable();

        @Actor
        public void first(IIII_Result r) {
            r.r1 = usableKeyOf(names, "a");
        }

        @Actor
        public void second(IIII_Result r) {
            r.r2 = usableKeyOf(names, "a");
        }

        @Arbiter
        public void arbiter(IIII_Result r) {
            r.r3 = names.find("a");
            r.r4 = names.size();
        }
    }

    /** The threads register two names each, in opposite order. */
    @JCStressTest
    @Outcome(id = "2, 3, 2, 3, 4", expect = ACCEPTABLE, desc = "the first one's order")
    @Outcome(id = "3, 2, 3, 2, 4", expect = ACCEPTABLE, desc = "the second one's order")
    @Outcome(expect = FORBIDDEN, desc = "a name with two keys, a key with two names, or one that cannot be used yet")
    @State
    public static class CrossedNames {
        private final NameTable names = newTable();

        @Actor
        public void first(IIIII_Result r) {
            r.r1 = usableKeyOf(names, "a");
            r.r2 = usableKeyOf(names, "b");
        }

        @Actor
        public void second(IIIII_Result r) {
            r.r4 = usableKeyOf(names, "b");
            r.r3 = usableKeyOf(names, "a");
        }

        @Arbiter
        public void arbiter(IIIII_Result r) {
            r.r5 = names.size();
        }
    }
}
