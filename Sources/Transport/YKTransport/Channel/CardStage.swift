// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// One small step between a command and the link: each stage has the next one below it.
package protocol CardStage: AnyObject {
    /// Turns one command into exchanges of the stage below, and their replies into one.
    func send(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU
}
