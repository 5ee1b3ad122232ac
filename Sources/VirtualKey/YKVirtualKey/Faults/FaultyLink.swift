// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// A card link that injects planned faults.
public final class FaultyLink: CardLink {
    private let link: any CardLink
    private var plan: FaultPlan
    private var isRemoved = false
    private var isLost = false

    /// Takes ownership of a link.
    public init(_ link: sending any CardLink, plan: FaultPlan) {
        self.link = link
        self.plan = plan
    }

    /// The identity of the card and its reader.
    public var identity: CardIdentity { link.identity }

    /// Sends a command, if the plan allows it, and returns the response as modified by the plan.
    public func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
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
    public func begin(deadline: Deadline) throws(LinkError) -> Bool {
        if isRemoved { throw .removed }
        let wasReset = isLost
        isLost = false
        return try link.begin(deadline: deadline) || wasReset
    }

    /// Lets other programs use the card.
    public func end() { link.end() }

    /// Resets the card; throws `removed` for a removed key.
    public func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {
        if isRemoved { throw .removed }
        try link.reset(kind, deadline: deadline)
    }

    /// Closes the card.
    public func close() { link.close() }
}
