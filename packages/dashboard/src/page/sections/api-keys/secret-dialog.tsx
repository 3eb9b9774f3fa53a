import { Dialog } from '../../kit/dialog/dialog.tsx'
import { CopyButton } from '../../kit/text/copy.tsx'

/** The only time that the secret is shown. */
export function SecretDialog({ secret, onClose }: { secret: string; onClose(): void }) {
  return (
    <Dialog title="The secret, shown once" onClose={onClose}>
      <div className="dialog-body">
        <p>Copy it now. Guildhall keeps only its digest and cannot show it again.</p>
        <div className="row note-box">
          <code className="grow break">{secret}</code>
          <CopyButton text={secret} what="secret" />
        </div>
        <div className="row">
          <span className="grow" />
          <button type="button" className="primary" onClick={onClose}>
            I have it
          </button>
        </div>
      </div>
    </Dialog>
  )
}
