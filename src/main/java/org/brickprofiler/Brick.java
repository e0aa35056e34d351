package org.brickprofiler;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Says which brick a method is. The agent times it where the package stands under {@code annotated:} in its rules;
 * without the agent nothing happens, and nothing of this library is needed when the program runs.
 *
 * <p>A method of several rows may carry {@code @Brick(value = BrickId.RMS_NORM, elements = "rows.length")}.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface Brick {

    /**
     * The brick.
     *
     * @return a known one
     */
    BrickId value();

    /**
     * How many elements each call processes, in the words of the agent's rules.
     *
     * @return a number, or a parameter or {@code this} and what of it
     */
    String elements() default "1";
}
