// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

/// What ^C does: the first one calls off what runs, so that the key is left in order; the second one ends the process.
enum Interruption {
    /// The switch that ^C throws.
    static let cancellation = Cancellation()

    /// Whether ^C was pressed.
    static var happened: Bool { cancellation.isCancelled }

    /// Starts to listen, and makes a reader that goes away harmless.
    static func install() {
        _ = cancellation
        signal(SIGPIPE, SIG_IGN)
        for number in [SIGINT, SIGTERM] {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in
                if Interruption.happened { _exit(130) }
                Interruption.cancellation.cancel()
            }
            sigaction(number, &action, nil)
        }
    }
}
