package org.brickprofiler.graph;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.internal.record.LayerToken;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The control of {@link GraphRecorderStress.Adoption}: the same log and nodes, but the parent is published before it
 * adopts. The parent must be observed without its last child; it has many children, to leave time for the observation.
 */
@JCStressTest
@Outcome(id = "64, -1", expect = ACCEPTABLE, desc = "the children alone")
@Outcome(id = "65, 64", expect = ACCEPTABLE, desc = "the last child in its parent")
@Outcome(expect = FORBIDDEN, desc = "a parent without its last child, as is to be expected here")
@State
public class LateAdoptionControl {

    private static final int CHILDREN = 64;

    private final AppendLog<RecordedNode> nodes = new AppendLog<>(100);
    private final RecordedNode parent = node();

    /** Creates the children, so that they exist before any thread reads. */
    public LateAdoptionControl() {
        for (int i = 0; i < CHILDREN; i++) {
            nodes.publish(nodes.reserve(), node());
        }
    }

    private static RecordedNode node() {
        RecordedNode.Place place = new RecordedNode.Place(0, "recorder", GraphRecorder.NONE, LayerToken.VOID);
        return new RecordedNode(new Brick("b", 1, 1), place, LayerToken.VOID, 0, 1);
    }

    @Actor
    public void recording() {
        int id = nodes.reserve();
        nodes.publish(id, parent);
        for (int child = 0; child < CHILDREN; child++) {
            nodes.get(child).setParent(id);
        }
    }

    @Actor
    public void reading(II_Result r) {
        int limit = nodes.size();
        nodes.get(limit - 1);
        r.r1 = limit;
        r.r2 = nodes.get(CHILDREN - 1).parentBelow(limit);
    }
}
