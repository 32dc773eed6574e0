// Uses what a page of a micrograph's objects has beside a page of regions.
function use(app) {
  shown.first = labels(app);
  shown.objects = isSeen('objects');
  shown.count = app.model.labels.count;
  shown.message = document.getElementById('message').textContent;
  shown.hint = document.getElementById('png-hint').textContent;
  app.select(1);
  shown.inside = figures().Inside;
  press('m');
  shown.mergedMessage = document.getElementById('message').textContent;
  shown.mergedCount = app.model.labels.count;
  press('u');
  shown.undone = labels(app);
  const place = shown.first.indexOf(0);
  click(app, place % app.model.tree.width, Math.floor(place / app.model.tree.width));
  shown.background = app.model.selected;
  input('threshold-wanted', 0.5, 'change');
  input('least-size', '40', 'change');
  input('inside-wanted', 0.5, 'change');
  shown.wide = labels(app);
  shown.command = document.getElementById('command').textContent;
  input('inside-wanted', 2, 'change');
  shown.badInside = document.getElementById('message').textContent;
  document.getElementById('objects').click();
  shown.off = labels(app);
}

usePage(use);
