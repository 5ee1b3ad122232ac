// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// A step between a command and the link; each stage calls the one below it.
package protocol CardStage: AnyObject {
    /// Turns one command into exchanges of the stage below, and their replies into one reply.
    func send(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU
}
