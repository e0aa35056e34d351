package org.brickprofiler.demo.device;

import java.util.List;

/** One of the checks that are made on a machine with a GPU. */
public interface Check {

    /**
     * What it is called.
     *
     * @return a word
     */
    String name();

    /**
     * Makes the check. Takes no more than two minutes.
     *
     * @return what came out, at least one
     * @throws DeviceFailure when the device refuses
     */
    List<Outcome> run();
}
