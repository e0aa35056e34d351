package org.brickprofiler.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Marks tests whose work is done by another program than the tests' virtual machine: a browser, a database, an emulated
 * processor. The gate runs them on its first JDK only.
 */
@Documented
@Inherited
@Tag("other-program")
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface OtherProgram {}
