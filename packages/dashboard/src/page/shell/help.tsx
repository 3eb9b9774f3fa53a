import { Dialog } from '../kit/dialog/dialog.tsx'

const keys: readonly [keys: string, what: string][] = [
  ['Ctrl K or ⌘ K', 'Go anywhere: sections, actions, accounts, groups'],
  ['/', 'To the filter of the view'],
  ['↑ ↓ Home End Page', 'Move through a table'],
  ['Enter', 'Open the row'],
  ['Space', 'Pick the row'],
  ['Esc', 'Close the pane or the dialog'],
  ['?', 'This list'],
]

export function HelpDialog({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div className="dialog-body">
        <dl className="facts">
          {keys.map(([key, what]) => (
            <div key={key} style={{ display: 'contents' }}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Dialog>
  )
}
