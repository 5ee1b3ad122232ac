// SPDX-License-Identifier: Apache-2.0

package import Arguments
import Verbs

/// The commands for devices, recordings and virtual keys.
package enum DeviceCommands {
    /// What users ask first: which keys are attached, and whether they work.
    package static var first: [CommandTopic] {
        [
            CommandTopic(
                "which keys are attached, what they can do, the first steps",
                ["list": List.self, "info": Info.self, "setup": Setup.self]),
            CommandTopic(
                "whether a second key opens what the first one does",
                ["compare": Compare.self, "inventory": InventoryVerb.self]),
            CommandTopic(
                "why a key does not work, and what to do", ["doctor": Doctor.self, "udev-rules": UDevRules.self]),
        ]
    }

    /// Commands that concern no single application, or that need no key.
    package static var others: [CommandTopic] {
        [
            CommandTopic("your key in every program, asked before each use", ["guard": GuardVerb.self]),
            CommandTopic(
                "a card for browsers; a key for a machine reached by ssh",
                ["bridge": BridgeVerb.self, "remote": RemoteVerb.self]),
            CommandTopic(
                "applications on and off; raw commands; QR codes",
                ["config": ConfigGroup.self, "apdu": APDUCommand.self, "qr": ReadQR.self]),
            CommandTopic(
                "recorded sessions; a software key, for tests",
                ["capture": CaptureGroup.self, "virtual": VirtualGroup.self]),
            CommandTopic(
                "shell completion; the schema of JSON answers",
                [
                    "completion": Completion.self, "schema": Schema.self, "generate": GenerateGroup.self,
                    "clear-clipboard": ClearClipboard.self,
                ]),
        ]
    }
}
