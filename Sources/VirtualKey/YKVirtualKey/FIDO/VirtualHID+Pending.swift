// SPDX-License-Identifier: Apache-2.0

package import YKWire

extension VirtualHID {
    /// The message in progress; `nil` once it was answered, cancelled, or dropped by INIT.
    package var pending: CTAPHID.Message? { work?.message }

    /// Drops the message in progress without an answer.
    package mutating func drop() { work = nil }
}
