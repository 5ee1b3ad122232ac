// SPDX-License-Identifier: Apache-2.0

package import YKTransport

/// A card link that injects planned faults.
package final class FaultyLink: ForwardingCardLink {
    package let link: any CardLink
    private var plan: FaultPlan
    private var isRemoved = false
    private var isLost = false

    /// Takes ownership of a link.
    package init(_ link: sending any CardLink, plan: FaultPlan) {
        self.link = link
        self.plan = plan
    }

    /// Sends a command, if the plan allows it, and returns the response as modified by the plan.
    package func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        if isRemoved { throw .removed }
        let link = link
        switch try plan.play(command, { bytes throws(LinkError) in try link.exchange(bytes, deadline: deadline) }) {
        case .reply(let bytes, let delay):
            try Pause.wait(delay, deadline, "waiting for a reply")
            return bytes
        case .silence:
            try Pause.wait(nil, deadline, "waiting for a reply")
            throw .timedOut("waiting for a reply")
        case .removed:
            isRemoved = true
            throw .removed
        case .reset:
            try link.reset(.cold, deadline: deadline)
            isLost = true
            throw .reset
        }
    }

    /// Locks other programs out of the card; throws `removed` for a removed key.
    package func begin(deadline: Deadline) throws(LinkError) -> Bool {
        if isRemoved { throw .removed }
        let wasReset = isLost
        isLost = false
        return try link.begin(deadline: deadline) || wasReset
    }

    /// Resets the card; throws `removed` for a removed key.
    package func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {
        if isRemoved { throw .removed }
        try link.reset(kind, deadline: deadline)
    }
}
