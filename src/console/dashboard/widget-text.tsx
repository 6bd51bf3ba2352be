import { Fragment } from 'preact';

const LINK = /(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)\]}])/;

/** A text as it was written: paragraphs, line breaks and addresses as links. */
export function WidgetText({ text }: { text: string }) {
  return (
    <div class="widget-text">
      {text.split(/\n{2,}/).map((paragraph, index) => (
        <p key={index}>
          {paragraph.split('\n').map((line, at) => (
            <Fragment key={at}>
              {at > 0 && <br />}
              {/* Every second part is what the expression found. */}
              {line.split(LINK).map((part, place) => (place % 2 === 1 ? <Address key={place} to={part} /> : part))}
            </Fragment>
          ))}
        </p>
      ))}
    </div>
  );
}

function Address({ to }: { to: string }) {
  return (
    <a href={to} target="_blank" rel="noopener noreferrer">
      {to}
    </a>
  );
}
