package org.brickprofiler.trace;

import java.util.List;
import java.util.Optional;

/**
 * Names the methods whose whole execution is a brick, so that the frames of a sample show its brick where a recording
 * has no bricks. Implementations are immutable; any thread.
 */
public interface FrameBricks {

    /**
     * Returns the brick of a method.
     *
     * @param type the binary name of its class, such as {@code com.example.Llama}
     * @param method its name
     * @param descriptor the descriptor of its parameters and its result, such as {@code ([FI)V}; empty if the recording
     *     does not state it
     * @return the name of the brick; empty if the method is none
     */
    Optional<String> brick(String type, String method, String descriptor);

    /**
     * Returns how many methods are bricks.
     *
     * @return 1 or more
     */
    int methods();

    /**
     * Returns the bricks that frames do not show, such as parts of methods.
     *
     * @return each with its place, in words
     */
    List<String> leftOut();
}
