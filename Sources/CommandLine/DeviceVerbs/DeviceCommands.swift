// SPDX-License-Identifier: Apache-2.0

package import Arguments
import Verbs

/// The commands for devices, recordings and virtual keys.
package enum DeviceCommands {
    /// What users ask first: which keys are attached, and whether they work.
    package static var first: [CommandTopic] {
        [
            CommandTopic(
                "which keys are attached, what they can do, the first steps", [List.self, Info.self, Setup.self]),
            CommandTopic("whether a second key opens what the first one does", [Compare.self, InventoryVerb.self]),
            CommandTopic("why a key does not work, and what to do", [Doctor.self, UDevRules.self]),
        ]
    }

    /// Commands that concern no single application, or that need no key.
    package static var others: [CommandTopic] {
        [
            CommandTopic("your key in every program, asked before each use", [GuardVerb.self]),
            CommandTopic(
                "a card for browsers; a key for a machine reached by ssh", [BridgeVerb.self, RemoteVerb.self]),
            CommandTopic(
                "applications on and off; raw commands; QR codes", [ConfigGroup.self, APDUCommand.self, ReadQR.self]),
            CommandTopic("recorded sessions; a software key, for tests", [CaptureGroup.self, VirtualGroup.self]),
            CommandTopic(
                "shell completion; the schema of JSON answers",
                [Completion.command, Schema.self, GenerateGroup.self, ClearClipboard.self]),
        ]
    }
}
