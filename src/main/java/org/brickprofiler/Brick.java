package org.brickprofiler;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Declares that a method is a brick. The agent times the method if its package is listed under {@code annotated:} in
 * the rules. Without the agent the annotation has no effect, and the program needs no part of this library at run time.
 *
 * <p>A method that processes several rows may have the annotation {@code @Brick(value = BrickId.RMS_NORM, elements =
 * "rows.length")}.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface Brick {

    /**
     * Returns the brick.
     *
     * @return a known brick
     */
    BrickId value();

    /**
     * Returns the number of elements that each call processes, in the syntax of the agent's rules.
     *
     * @return a number, or an expression that begins with a parameter or {@code this}
     */
    String elements() default "1";
}
